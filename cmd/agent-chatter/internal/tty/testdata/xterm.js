// A terminal of xterm.js. Each line of the input is a JSON object: {write} takes output in base64, {resize} columns and
// rows, {dump} prints the lines of the scrollback and the screen, without the breaks of the terminal, as JSON, {cursor}
// the column and row of the cursor, and {attention} the title and how often the bell rang.
const { Terminal } = require(process.argv[2]);
const terminal = new Terminal({ cols: 80, rows: 24, scrollback: 100000, allowProposedApi: true });
const attention = { title: '', bells: 0 };
terminal.onTitleChange((title) => { attention.title = title; });
terminal.onBell(() => { attention.bells++; });

function lines() {
  const buffer = terminal.buffer.active, all = [];
  for (let i = 0; i < buffer.length; i++) {
    const line = buffer.getLine(i), wraps = buffer.getLine(i + 1)?.isWrapped;
    const text = line.translateToString(!wraps);
    if (line.isWrapped) all[all.length - 1] += text;
    else all.push(text);
  }
  return all.map((text) => text.trimEnd());
}

async function main() {
  const input = require('readline').createInterface({ input: process.stdin });
  for await (const line of input) {
    const { write, resize, dump, cursor, attention: ask } = JSON.parse(line);
    if (write) await new Promise((done) => terminal.write(Buffer.from(write, 'base64'), done));
    if (resize) terminal.resize(...resize);
    if (dump) console.log(JSON.stringify(lines()));
    if (cursor) console.log(JSON.stringify([terminal.buffer.active.cursorX, terminal.buffer.active.cursorY]));
    if (ask) console.log(JSON.stringify(attention));
  }
}
main();
