/** Variables by name, as a process has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads one variable after the other and keeps the faults, so that all are told at once. */
export const readEnvironment = (env: Environment) => {
	const faults: string[] = [];
	const text = (name: string): string | null => env[name]?.trim() || null;
	const fault = (name: string, expected: string): null => {
		faults.push(`${name} ${expected}`);
		return null;
	};
	const integer = (name: string, fallback: number, {min, max}: {min: number; max: number}): number => {
		const value = text(name);
		if (value === null) {
			return fallback;
		}

		const number = /^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
		return number >= min && number <= max
			? number
			: (fault(name, `must be an integer from ${min} to ${max}`) ?? fallback);
	};
	const url = (name: string, protocols: string[]): string | null => {
		const value = text(name);
		if (value === null) {
			return null;
		}

		const parsed = URL.canParse(value) ? new URL(value) : null;
		return parsed && protocols.includes(parsed.protocol)
			? value.replace(/(?<!\/)\/+$/, '')
			: fault(name, `must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`);
	};
	const choice = <T extends string>(name: string, values: readonly T[]): T | null => {
		const value = text(name);
		return (
			values.find((one) => one === value) ??
			(value === null ? null : fault(name, `must be one of ${values.join(', ')}`))
		);
	};
	const list = (name: string, isValid: (item: string) => boolean, expected: string): string[] => {
		const items = (text(name) ?? '')
			.split(',')
			.map((item) => item.trim())
			.filter((item) => item !== '');
		const bad = items.filter((item) => !isValid(item));
		if (bad.length > 0) {
			fault(name, `must be ${expected}; wrong: ${bad.join(', ')}`);
		}

		return items;
	};
	return {faults, text, fault, integer, url, choice, list};
};

export type EnvironmentReader = ReturnType<typeof readEnvironment>;
