/** What spreadsheets take for the beginning of a formula (OWASP, CSV injection), wide forms too. */
const FORMULA = '=+\\-@\t\r＝＋－＠';
const needsGuard = new RegExp(`^['${FORMULA}]`);
const isGuarded = new RegExp(`^'['${FORMULA}]`);

/** A cell that no spreadsheet takes for a formula: an apostrophe before what would be one, and before an apostrophe. */
export const guarded = (cell: string): string => (needsGuard.test(cell) ? `'${cell}` : cell);

/** The same cell as it was: `unguarded(guarded(cell))` is `cell`. */
export const unguarded = (cell: string): string => (isGuarded.test(cell) ? cell.slice(1) : cell);
