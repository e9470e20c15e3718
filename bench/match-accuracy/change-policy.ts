import type {MatchPolicy} from '../../src/match/match-policy.ts';

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/**
 * The policy with other numbers, to see what they would do.
 * @param changes as `points.network=0`. @throws where there is no such number.
 */
export const changePolicy = (policy: MatchPolicy, changes: string[]): MatchPolicy => {
	const changed = structuredClone(policy);
	for (const change of changes) {
		const [, path = '', value] = /^([\w.]+)=(-?\d+(?:\.\d+)?)$/.exec(change) ?? [];
		const names = path.split('.');
		const last = names.pop() ?? '';
		const holder = names.reduce<unknown>((part, name) => (isRecord(part) ? part[name] : undefined), changed);
		if (value === undefined || !isRecord(holder) || typeof holder[last] !== 'number') {
			throw new Error(`the policy has no number to set by ${change}`);
		}

		holder[last] = Number(value);
	}

	return changed;
};
