const WIDTH = 80;
const PROMPT = '  $ ';
const CONTINUED = ' \\';
const INDENT = '      ';

/** An example as help shows it. Lines longer than 80 columns are continued before an option, in shell syntax. */
export const exampleLines = (example: string): string => {
	const lines: string[] = [];
	for (const part of example.split(/ (?=--|\| )/)) {
		const last = lines.at(-1);
		const longer = last === undefined ? PROMPT + part : `${last} ${part}`;
		if (last === undefined || longer.length + CONTINUED.length <= WIDTH) {
			lines[Math.max(0, lines.length - 1)] = longer;
		} else {
			lines.push(INDENT + part);
		}
	}

	return lines.join(`${CONTINUED}\n`);
};
