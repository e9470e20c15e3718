/** What the run has found wrong. */
export const faults: string[] = [];

export const say = (text: string): void => console.log(text);

export const require = (what: string, isTrue: boolean): void => {
	if (!isTrue) {
		faults.push(what);
		say(`  ✘ ${what}`);
	}
};

/** Says what was counted, and requires that all of it is 0. */
export const requireNone = (found: Readonly<Record<string, number>>): void => {
	say(
		`  ${Object.entries(found)
			.map(([what, count]) => `${count} ${what}`)
			.join(', ')}`,
	);
	for (const [what, count] of Object.entries(found)) {
		require(`no ${what}`, count === 0);
	}
};
