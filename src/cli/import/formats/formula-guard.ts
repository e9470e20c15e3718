/** What spreadsheets take for the beginning of a formula (OWASP, CSV injection), wide forms too; and our own guard. */
const needsGuard = /^['=+\-@\t\r＝＋－＠]/;
const isGuarded = /^''|^'[=+\-@\t\r＝＋－＠]/;

/** A cell that no spreadsheet takes for a formula: an apostrophe before what would be one, and before an apostrophe. */
export const guarded = (cell: string): string => (needsGuard.test(cell) ? `'${cell}` : cell);

/** The same cell as it was: `unguarded(guarded(cell))` is `cell`. */
export const unguarded = (cell: string): string => (isGuarded.test(cell) ? cell.slice(1) : cell);
