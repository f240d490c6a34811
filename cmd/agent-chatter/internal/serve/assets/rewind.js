// Going back to before a message: the conversation, which continues in a copy, the files, or both.
import { post } from "/api.js";
import { ask } from "/actions.js";
import { element } from "/dom.js";
import { safe } from "/safe.js";

const choices = [
  ["both", "Both", "the files and the conversation"],
  ["conversation", "Conversation", "it continues in a copy, with the message to edit"],
  ["files", "Files", "the conversation goes on as it is"],
];

// rewind shows what going back to before the message of an event would do, and asks what goes back. enter(command, text)
// enters the command; text is that of the message, which is edited then.
export async function rewind(path, seq, enter) {
  const look = () => post(`${path}/rewind`, { seq });
  const quote = element("blockquote", { className: "undone" });
  const plan = element("pre", { className: "restored", tabIndex: 0, role: "group", "aria-label": "What happens to the files" }, "Comparing the files …");
  const options = choices.map(([value, name, about]) => element("label", { className: "part" },
    element("input", { type: "radio", name: "what", value, disabled: true }), element("b", {}, name), element("span", {}, about)));
  let shown = null;
  const dialog = ask("Rewind to before this message?", "Rewind", [quote, plan,
    element("fieldset", {}, element("legend", { className: "visually-hidden" }, "What goes back"), ...options)],
  async (problem, form) => {
    try {
      const what = new FormData(form).get("what");
      if (what !== "conversation") {
        const before = shown.plan;
        show(await look());
        if (shown.plan !== before) throw new Error("The files have changed meanwhile. This is what would happen now.");
      }
      await enter(`/rewind ${what} ${shown.before}`, what === "files" ? "" : shown.text);
      return true;
    } catch (error) {
      problem(error);
      return false;
    }
  });
  dialog.classList.add("rewind");
  const submit = dialog.querySelector(".primary");
  submit.disabled = true;

  // show shows what would happen, and what can be chosen.
  function show(now) {
    shown = now;
    quote.textContent = safe(now.text);
    plan.textContent = safe(now.plan);
    for (const option of options) {
      const field = option.firstChild;
      field.disabled = !now.files && field.value !== "conversation";
      option.classList.toggle("off", field.disabled);
    }
    const chosen = options.find(({ firstChild }) => firstChild.checked && !firstChild.disabled) ?? options.find(({ firstChild }) => !firstChild.disabled);
    chosen.firstChild.checked = true;
    submit.disabled = false;
  }
  try {
    show(await look());
    if (dialog.isConnected) dialog.querySelector("input:checked").focus();
  } catch (error) {
    plan.remove();
    dialog.querySelector("fieldset").remove();
    quote.textContent = error.message;
    dialog.querySelector(".cancel").focus(); // keys are for the dialog still
  }
}
