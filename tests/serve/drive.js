// Plays the page by its buttons and keys until the match is over; choices by a fixed rule.
//
// playMatch() gives every game's log and result. It doubles now and then, takes, and never resigns.

window.playMatch = async () => {
  const games = [];
  const end = Date.now() + 1000 * 600; // for the slowest machine
  while (Date.now() < end) {
    const { phase, log, result } = nardy.game;
    if (nardy.error) throw new Error(nardy.error);
    if (phase === "over") {
      games.push({ log, result, match: nardy.state.match });
      if (!document.querySelector("[data-action=next]")) return games;
      press("next");
    } else if (["bot", "offered"].includes(phase)) {
      await new Promise((done) => setTimeout(done, 1));
    } else if (!pressOne(log.length)) {
      const [source] = nardy.sources();
      key(source);
      key([...nardy.targets(source).keys()].at(-1));
    }
  }
  throw new Error(`the match does not end: ${JSON.stringify(nardy.state)}`);
};

function pressOne(turns) {
  const names = ["throwForStart", "take", "roll", "done", "pass"];
  if (turns % 5 === 4) names.unshift("double");
  return names.some(press);
}

function press(action) {
  const button = document.querySelector(`[data-action=${action}]`);
  button?.click();
  return Boolean(button);
}

function key(cell) {
  const element = document.querySelector(`[data-cell="${cell}"]`);
  element.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
}
