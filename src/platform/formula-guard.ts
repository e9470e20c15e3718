/** First characters of formulas in spreadsheets (OWASP, CSV injection), full-width forms too, as PostgreSQL reads them as well. */
export const FORMULA = String.raw`[=+\-@\t\r＝＋－＠]`;

const needsGuard = new RegExp(`^('|${FORMULA})`);
const isGuarded = new RegExp(`^'('|${FORMULA})`);

/** A cell that no spreadsheet evaluates: an apostrophe precedes a possible formula, or another apostrophe. */
export const guarded = (cell: string): string => (needsGuard.test(cell) ? `'${cell}` : cell);

/** The original cell: `unguarded(guarded(cell))` is `cell`. */
export const unguarded = (cell: string): string => (isGuarded.test(cell) ? cell.slice(1) : cell);
