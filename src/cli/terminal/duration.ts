import {InvalidArgumentError, Option} from 'commander';

const SECONDS: Record<string, number> = {s: 1, m: 60, h: 3600, d: 86_400};

/** Seconds of a text such as `90s`, `10m`, `3h` or `2d`. */
const secondsOf = (text: string): number => {
	const [, amount = '', unit = ''] = /^(\d{1,7})([smhd])$/.exec(text) ?? [];
	const seconds = SECONDS[unit];
	if (seconds === undefined) {
		throw new InvalidArgumentError('It must be a number with a unit: 90s, 10m, 3h or 2d.');
	}

	return Number(amount) * seconds;
};

/** An option with a time span, in seconds. */
export const durationOption = (flags: string, meaning: string): Option =>
	new Option(flags, meaning).argParser(secondsOf);

/** A rounded time span in its largest full unit: `45s`, `10m`, `3h`, `2d`. */
export const durationText = (seconds: number): string => {
	const [unit, size] = Object.entries(SECONDS).findLast(([, one]) => seconds >= one) ?? ['s', 1];
	return `${Math.floor(Math.max(0, seconds) / size)}${unit}`;
};
