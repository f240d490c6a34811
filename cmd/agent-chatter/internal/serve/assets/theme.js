// It runs before the page is drawn, so that the page does not flash in the other colours.
{
  const theme = localStorage.getItem("agent-chatter-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
}
