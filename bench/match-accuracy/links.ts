import {type LinkStyle, links, type Tenant} from './population.ts';
import {type Random, type Weighted, zipf} from './random.ts';

/** Which of its tenant's links somebody comes across. */
export const createLinks = (random: Random): ((tenant: Tenant) => string) => {
	const numbered = (count: number): Weighted<number> => zipf(Array.from({length: count}, (_, index) => index));
	const {campaigns, catalogue, clicksPerReferral} = links.value;
	const numbers: Record<Exclude<LinkStyle, 'referrals'>, Weighted<number>> = {
		campaigns: numbered(campaigns),
		catalogue: numbered(catalogue),
	};
	const referrals = new Map<string, {number: number; left: number}>();
	return ({id, style}) => {
		if (style !== 'referrals') {
			return `${id}/${random.pick(numbers[style])}`;
		}

		let current = referrals.get(id) ?? {number: 0, left: 0};
		if (current.left < 1) {
			current = {number: current.number + 1, left: 1 + random.below(2 * clicksPerReferral - 1)};
			referrals.set(id, current);
		}

		current.left -= 1;
		return `${id}/${current.number}`;
	};
};
