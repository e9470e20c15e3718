import type {Result} from './tally.ts';

/** Why an install that a click led to got no link. */
const missOf = ({open, answer}: Result): string => {
	const {cause} = open;
	if (cause === null || answer.click !== null) {
		return '';
	}

	if (cause.keys.ip === open.keys.ip) {
		return `same address: ${answer.reason}`;
	}

	if (cause.network === 'relay') {
		return 'clicked through a private relay';
	}

	if (cause.keys.net === open.keys.net) {
		return `same network: ${answer.reason}`;
	}

	if (cause.place === open.place) {
		return 'same network, the other address family';
	}

	return cause.network === 'carrier' && open.network === 'carrier'
		? 'the carrier gave the phone another address'
		: 'opened on another network';
};

export type Count = {what: string; count: number};

const counted = (causes: string[]): Count[] => {
	const counts = new Map<string, number>();
	for (const cause of causes) {
		counts.set(cause, (counts.get(cause) ?? 0) + 1);
	}

	return [...counts].map(([what, count]) => ({what, count})).toSorted((one, other) => other.count - one.count);
};

export const missCauses = (results: Result[]): Count[] =>
	counted(results.filter(({open, verdict}) => open.cause !== null && verdict === 'none').map(missOf));

/** Wrong matches by what went wrong and where the app was opened. */
export const wrongCauses = (results: Result[]): Count[] =>
	counted(
		results
			.filter(({verdict}) => verdict !== 'none' && verdict !== 'right')
			.map(({verdict, open}) => `${verdict}, ${open.network}`),
	);
