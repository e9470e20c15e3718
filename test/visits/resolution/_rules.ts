export type Rule = {'/': string; exclude?: boolean};

/** `*` is any text, `?` one character; everything else is itself, in its letters. */
const matches = (pattern: string, path: string): boolean => {
	const source = pattern
		.replace(/[.+^${}()|[\]\\/]/g, String.raw`\$&`)
		.replaceAll('*', '.*')
		.replaceAll('?', '.');
	return new RegExp(`^${source}$`, 's').test(path);
};

/** Whether both systems open the path in the app: the first rule that matches decides, and no match excludes the path. */
export const opens = (rules: readonly Rule[], path: string): boolean => {
	const first = rules.find((rule) => matches(rule['/'], path));
	return first !== undefined && first.exclude !== true;
};

const pick = <T>(choices: readonly T[]): T => {
	const chosen = choices[Math.floor(Math.random() * choices.length)];
	if (chosen === undefined) {
		throw new Error('nothing to choose from');
	}

	return chosen;
};

/** Paths that begin with one of the keys, with one in other letters, or with something near it. */
export const randomPath = (keys: readonly string[]): string => {
	const key = pick(keys);
	const first = pick([
		key,
		key.toLowerCase(),
		key.toUpperCase(),
		`${key}x`,
		key.slice(1),
		`%2F${key}`,
		'',
		'*',
		'????',
	]);
	const rest = Array.from({length: pick([0, 1, 2, 3])}, () =>
		pick([...keys, 'sale', '', '..', 'data', 'signals', '*']),
	);
	return `/${[first, ...rest].join('/')}`;
};
