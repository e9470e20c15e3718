import type Stripe from 'stripe';

const isSameMonth = (date: Date, month: number): boolean => date.getUTCMonth() === month % 12;

/** The anchor some months on, on the month's last day where it has no such day: 31 January, 28 February, 31 March. */
const monthsAfter = (anchor: number, months: number): number => {
	const from = new Date(anchor * 1000);
	const to = new Date(from);
	to.setUTCMonth(from.getUTCMonth() + months);
	if (!isSameMonth(to, from.getUTCMonth() + months)) {
		to.setUTCDate(0);
	}

	return to.getTime() / 1000;
};

/** The first end of a period after `time`, counted from the anchor. All are Unix seconds. */
export const periodEndAfter = (anchor: number, time: number, {recurring}: Stripe.Price): number => {
	const step = recurring?.interval === 'year' ? 12 : 1;
	let months = step;
	while (monthsAfter(anchor, months) <= time) {
		months += step;
	}

	return monthsAfter(anchor, months);
};

/** The end of a schedule's phase. */
export const durationAfter = (start: number, interval: string, count: number): number => {
	const days: Record<string, number> = {day: 1, week: 7};
	const seconds = days[interval];
	return seconds === undefined
		? monthsAfter(start, interval === 'year' ? count * 12 : count)
		: start + seconds * count * 86_400;
};
