/** What spreadsheets make of TRUE and FALSE in their languages when they open and save a CSV file. */
const YES = new Set(
	'true yes 1 wahr vrai verdadero verdadeiro vero waar prawda pravda sant sand sann tosi igaz adevărat doğru истина'.split(
		' ',
	),
);
const NO = new Set(
	'false no 0 falsch faux falso onwaar fałsz nepravda falskt falsk usann epätosi hamis fals yanlış yanliş ложь'.split(
		' ',
	),
);

/** The truth of a cell or a field; null if it is not understood. What is absent is false. */
export const truthOf = (value: unknown): boolean | null => {
	if (typeof value === 'boolean' || value === undefined || value === null) {
		return value === true;
	}

	const word = String(value).trim().toLowerCase();
	return YES.has(word) ? true : word === '' || NO.has(word) ? false : null;
};
