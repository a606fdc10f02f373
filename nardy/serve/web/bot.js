// The opponent. Two kinds with the same methods: a server, or a net in the browser (onnx.js).
//
//   const { bot, games, levels } = await openBot();
//   await bot.rank({ game, board, dice, level, score })   // plays, best first
//   await bot.position({ game, board, level, score })     // chances and cube of the player on roll
//
// Boards are in the mover's view; chances are those of game.outcomes, for the player who moves.

/** What games.json beside the page offers: the games, their levels and the bot that plays them. */
export async function openBot() {
  const offer = await answer(await fetch("games.json"));
  const { games, levels } = offer;
  if (offer.engine === "server") return { bot: serverBot, games, levels };
  const { onnxBot } = await import("./onnx.js");
  return { bot: onnxBot(offer), games, levels };
}

const serverBot = {
  // whether it knows what to do with the cube of a game
  cube: ({ cube, outcomes }) => cube === "on" && !outcomes.includes(0),
  rank: ({ game, ...asked }) => post("play/rank", { variant: game.name, ...asked }),
  position: ({ game, ...asked }) => post("play/position", { variant: game.name, ...asked }),
};

async function post(path, body) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return answer(response);
}

async function answer(response) {
  if (response.ok) return response.json();
  const body = await response.json().catch(() => ({}));
  const sentence = body.message ?? body.detail;
  throw new Error(typeof sentence === "string" ? sentence : `HTTP ${response.status}`);
}
