/** First characters of formulas in spreadsheets (OWASP, CSV injection), full-width forms too, and our own guard. */
const needsGuard = /^['=+\-@\t\r＝＋－＠]/;
const isGuarded = /^''|^'[=+\-@\t\r＝＋－＠]/;

/** A cell that no spreadsheet evaluates: an apostrophe precedes what could be a formula, or another apostrophe. */
export const guarded = (cell: string): string => (needsGuard.test(cell) ? `'${cell}` : cell);

/** The original cell: `unguarded(guarded(cell))` is `cell`. */
export const unguarded = (cell: string): string => (isGuarded.test(cell) ? cell.slice(1) : cell);
