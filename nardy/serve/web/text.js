// The words of the page, in English and Russian.
//
//   setLanguage("ru");  t("rolled", { who: t("you"), dice: "3-1" })
//
// A value may be a function of the parameters, where a language needs more than filling in.

const plural = (language, forms) => {
  const rules = new Intl.PluralRules(language);
  return (n) => `${n} ${forms[rules.select(n)] ?? forms.other}`;
};
const enPoints = plural("en", { one: "point", other: "points" });
const enPips = plural("en", { one: "pip", other: "pips" });
const enCheckers = plural("en", { one: "checker", other: "checkers" });
const ruPoints = plural("ru", { one: "очко", few: "очка", many: "очков", other: "очка" });
const ruCheckers = plural("ru", { one: "шашка", few: "шашки", many: "шашек", other: "шашки" });

const EN = {
  title: "nardy",
  loading: "Setting up the board…",
  you: "You",
  bot: "Bot",
  short: "Short nardy (backgammon)",
  nack: "Nackgammon",
  hyper: "Hypergammon",
  long: "Long nardy",
  nardgammon: "Nardgammon",
  beginner: "Beginner",
  casual: "Casual",
  intermediate: "Intermediate",
  advanced: "Advanced",
  expert: "Expert",
  master: "Master",
  world: "World class",
  newGame: "New game",
  start: "Start",
  cancel: "Cancel",
  game: "Game",
  level: "Level",
  matchLength: "Match",
  matchTo: ({ n }) => (n ? `to ${enPoints(n)}` : "for points, no end"),
  withCube: "With the doubling cube",
  roll: "Roll",
  throwForStart: "Throw for the start",
  double: "Double",
  undo: "Undo",
  done: "Done",
  pass: "Continue",
  hint: "Hint",
  take: "Take",
  drop: "Pass",
  resign: "Resign",
  retry: "Try again",
  next: "Next game",
  analyse: "Analyse the game",
  backToGame: "Back to the game",
  score: "Score",
  to: ({ n }) => (n ? `match to ${n}` : "for points"),
  crawford: "Crawford game: no cube",
  pips: ({ n }) => enPips(n),
  cubeAt: ({ n, owner }) => `Cube on ${n}, ${owner}`,
  cubeCentre: "in the middle",
  cubeYou: "yours",
  cubeBot: "the bot's",
  evaluation: "Evaluation",
  evaluationText: ({ win, gammon, lose, draw }) =>
    `You win ${win} % (gammon ${gammon} %), the bot wins a gammon ${lose} %` +
    (draw === null ? "" : `, a draw ${draw} %`),
  showEvaluation: "Show the evaluation",
  hints: "Best plays",
  moves: "Moves",
  noMoves: "No moves yet.",
  opening: "Throw one die each: the higher begins.",
  openingYou: ({ a, b }) => `You threw ${a}, the bot ${b}: you begin with these two.`,
  openingBot: ({ a, b }) => `You threw ${a}, the bot ${b}: the bot begins with these two.`,
  yourRoll: "Your turn: roll the dice.",
  yourRollCube: "Your turn: roll, or double first.",
  yourMove: ({ dice }) => `You rolled ${dice}. Choose a checker, then where it goes.`,
  chooseTarget: ({ point }) => `From ${point}: choose where it goes.`,
  confirm: "That is your whole move. Undo, or Done.",
  cannotMove: ({ dice }) => `You rolled ${dice}: no move is possible.`,
  botThinks: "The bot is thinking…",
  botRolled: ({ dice }) => `The bot rolled ${dice}.`,
  botMoved: ({ dice, move }) => `The bot rolled ${dice} and played ${move}.`,
  botPassed: ({ dice }) => `The bot rolled ${dice} and cannot move.`,
  youMoved: ({ move }) => `You played ${move}.`,
  noMove: "no move",
  botDoubles: ({ n }) => `The bot doubles to ${n}. Do you take?`,
  botTakes: ({ n }) => `The bot takes; the cube is on ${n}.`,
  youTake: ({ n }) => `You take; the cube on ${n} is yours.`,
  doubled: ({ n }) => `doubles to ${n}`,
  takes: "takes",
  drops: "passes",
  resigns: ({ kind }) => `resigns: ${kind}`,
  kind1: "single game",
  kind2: "gammon",
  kind3: "backgammon",
  refused: "The bot plays on: it expects to win more.",
  resignWhat: "What do you give the bot?",
  youWin: ({ kind, n }) => `You win: ${kind}, ${enPoints(n)}.`,
  botWins: ({ kind, n }) => `The bot wins: ${kind}, ${enPoints(n)}.`,
  drawn: "A draw: both have borne off all their checkers.",
  passedDouble: "double passed",
  youWinMatch: "You win the match.",
  botWinsMatch: "The bot wins the match.",
  trouble: ({ error }) => `The bot does not answer: ${error}`,
  analysis: "Analysis",
  analysing: ({ n, of }) => `Judging decision ${n} of ${of}…`,
  analysisSum: ({ who, n, lost, rate }) =>
    `${who}: ${n} decisions, ${lost} points lost, ${rate} thousandths a decision`,
  noErrors: "No errors of 0.02 points or more.",
  errorLine: ({ who, dice, played, best }) => `${who}, ${dice}: ${played}; best ${best}`,
  cubeWrongDouble: "doubled, should not",
  cubeMissedDouble: "did not double, should",
  cubeWrongTake: "took, should pass",
  cubeWrongPass: "passed, should take",
  reviewing: ({ line }) => `Shown on the board: ${line}`,
  point: ({ n }) => `Point ${n}`,
  bar: "Bar",
  off: "Off",
  empty: "empty",
  checkers: ({ n, who }) => `${enCheckers(n)}, ${who}`,
  yours: "yours",
  bots: "the bot's",
  movable: "can move",
  selected: "chosen",
  target: "can go here",
  keys:
    "Arrow keys go from point to point, Enter chooses and plays, Escape lets go. " +
    "R rolls, U takes back, D is done, H asks for a hint.",
  help: "Keys",
  board: "Board",
  language: "Русский",
};

const RU = {
  title: "нарды",
  loading: "Расставляем шашки…",
  you: "Вы",
  bot: "Бот",
  short: "Короткие нарды",
  nack: "Накгаммон",
  hyper: "Гипергаммон",
  long: "Длинные нарды",
  nardgammon: "Нардгаммон",
  beginner: "Новичок",
  casual: "Любитель",
  intermediate: "Средний",
  advanced: "Сильный",
  expert: "Эксперт",
  master: "Мастер",
  world: "Мировой класс",
  newGame: "Новая игра",
  start: "Начать",
  cancel: "Отмена",
  game: "Игра",
  level: "Уровень",
  matchLength: "Матч",
  matchTo: ({ n }) => (n ? `до ${n} ${n === 1 ? "очка" : "очков"}` : "на очки, без конца"),
  withCube: "С кубом удвоения",
  roll: "Бросить",
  throwForStart: "Разыграть первый ход",
  double: "Даве",
  undo: "Вернуть",
  done: "Готово",
  pass: "Дальше",
  hint: "Подсказка",
  take: "Принять",
  drop: "Отказаться",
  resign: "Сдаться",
  retry: "Ещё раз",
  next: "Следующая партия",
  analyse: "Разобрать партию",
  backToGame: "Назад к игре",
  score: "Счёт",
  to: ({ n }) => (n ? `матч до ${n}` : "на очки"),
  crawford: "Правило Кроуфорда: без куба",
  pips: ({ n }) => `пипсы: ${n}`,
  cubeAt: ({ n, owner }) => `Куб ${n}, ${owner}`,
  cubeCentre: "посередине",
  cubeYou: "ваш",
  cubeBot: "у бота",
  evaluation: "Оценка",
  evaluationText: ({ win, gammon, lose, draw }) =>
    `Вы выигрываете ${win} % (марс ${gammon} %), бот выигрывает марс ${lose} %` +
    (draw === null ? "" : `, ничья ${draw} %`),
  showEvaluation: "Показывать оценку",
  hints: "Лучшие ходы",
  moves: "Ходы",
  noMoves: "Ходов пока нет.",
  opening: "Каждый бросает одну кость: больше — ходит первым.",
  openingYou: ({ a, b }) => `У вас ${a}, у бота ${b}: вы начинаете и играете эти кости.`,
  openingBot: ({ a, b }) => `У вас ${a}, у бота ${b}: начинает бот и играет эти кости.`,
  yourRoll: "Ваш ход: бросайте кости.",
  yourRollCube: "Ваш ход: бросайте кости или объявите даве.",
  yourMove: ({ dice }) => `Выпало ${dice}. Выберите шашку, затем куда ей идти.`,
  chooseTarget: ({ point }) => `С ${point}: выберите, куда идти.`,
  confirm: "Ход сделан целиком. «Вернуть» или «Готово».",
  cannotMove: ({ dice }) => `Выпало ${dice}: хода нет.`,
  botThinks: "Бот думает…",
  botRolled: ({ dice }) => `У бота выпало ${dice}.`,
  botMoved: ({ dice, move }) => `У бота выпало ${dice}, ход ${move}.`,
  botPassed: ({ dice }) => `У бота выпало ${dice}, хода нет.`,
  youMoved: ({ move }) => `Ваш ход: ${move}.`,
  noMove: "хода нет",
  botDoubles: ({ n }) => `Бот объявляет даве: ставка ${n}. Принимаете?`,
  botTakes: ({ n }) => `Бот принимает, куб на ${n}.`,
  youTake: ({ n }) => `Вы приняли, куб ${n} ваш.`,
  doubled: ({ n }) => `даве до ${n}`,
  takes: "принято",
  drops: "отказ",
  resigns: ({ kind }) => `сдаётся: ${kind}`,
  kind1: "оин",
  kind2: "марс",
  kind3: "кокс",
  refused: "Бот играет дальше: он рассчитывает на большее.",
  resignWhat: "Что вы отдаёте боту?",
  youWin: ({ kind, n }) => `Вы выиграли: ${kind}, ${ruPoints(n)}.`,
  botWins: ({ kind, n }) => `Бот выиграл: ${kind}, ${ruPoints(n)}.`,
  drawn: "Ничья: оба выбросили все шашки.",
  passedDouble: "отказ от даве",
  youWinMatch: "Вы выиграли матч.",
  botWinsMatch: "Бот выиграл матч.",
  trouble: ({ error }) => `Бот не отвечает: ${error}`,
  analysis: "Разбор",
  analysing: ({ n, of }) => `Решение ${n} из ${of}…`,
  analysisSum: ({ who, n, lost, rate }) =>
    `${who}: решений ${n}, потеряно ${lost} очка, по ${rate} тысячных на решение`,
  noErrors: "Ошибок от 0,02 очка нет.",
  errorLine: ({ who, dice, played, best }) => `${who}, ${dice}: ${played}; лучше ${best}`,
  cubeWrongDouble: "даве зря",
  cubeMissedDouble: "нужно было даве",
  cubeWrongTake: "принято зря",
  cubeWrongPass: "отказ зря",
  reviewing: ({ line }) => `На доске: ${line}`,
  point: ({ n }) => `Пункт ${n}`,
  bar: "Бар",
  off: "Выброшено",
  empty: "пусто",
  checkers: ({ n, who }) => `${ruCheckers(n)}, ${who}`,
  yours: "ваши",
  bots: "бота",
  movable: "может ходить",
  selected: "выбрано",
  target: "можно сюда",
  keys:
    "Стрелки — от пункта к пункту, Enter — выбрать и пойти, Escape — отпустить. " +
    "R — бросить, U — вернуть, D — готово, H — подсказка.",
  help: "Клавиши",
  board: "Доска",
  language: "English",
};

const TEXTS = { en: EN, ru: RU };
let language = "en";

export const languages = Object.keys(TEXTS);

/** "ru" where the browser prefers it, else "en". */
export function preferredLanguage() {
  return navigator.language?.startsWith("ru") ? "ru" : "en";
}

export function setLanguage(name) {
  language = TEXTS[name] ? name : "en";
  document.documentElement.lang = language;
}

/** The words for `name`; names that are not in the list stand for themselves. */
export function t(name, parameters = {}) {
  const words = TEXTS[language][name] ?? name;
  return typeof words === "function" ? words(parameters) : words;
}

/** A number with its sign and decimals as the language writes it. */
export function number(value, digits = 3, sign = false) {
  const style = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  if (sign) style.signDisplay = "exceptZero";
  return new Intl.NumberFormat(language, style).format(value).replace("-", "−");
}

/** The names of all texts of one language, for the tests. */
export const textNames = (name) => Object.keys(TEXTS[name]).sort();
