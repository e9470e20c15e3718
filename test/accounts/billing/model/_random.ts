import fc from 'fast-check';
import {type AnyPlan, DAY_MINUTES as DAY, type PaidPlan, type Step} from './_steps.ts';

/** One of them, by weight. */
const oneOf = <Value>(...options: Array<[weight: number, arbitrary: fc.Arbitrary<Value>]>): fc.Arbitrary<Value> =>
	fc.oneof(...options.map(([weight, arbitrary]) => ({weight, arbitrary})));

const paid = fc.constantFrom<PaidPlan>('SOLO', 'GROWTH', 'SCALE');
const any = fc.constantFrom<AnyPlan>('STARTER', 'SOLO', 'GROWTH', 'SCALE');
const currency = fc.constantFrom('USD' as const, 'EGP' as const);
const tab = fc.constantFrom(0, 0, 0, 1, 2);

const checkout: fc.Arbitrary<Step> = fc.record({do: fc.constant('checkout' as const), plan: paid, currency});
const change: fc.Arbitrary<Step> = fc.record({do: fc.constant('change' as const), plan: any, currency});
const ask: fc.Arbitrary<Step> = fc.constantFrom<Step>({do: 'cancel'}, {do: 'resume'}, {do: 'renew'});
const ops: fc.Arbitrary<Step> = fc.record({
	do: fc.constant('ops' as const),
	plan: fc.constantFrom<Extract<Step, {do: 'ops'}>['plan']>('STARTER', 'GROWTH', 'SCALE', 'ENTERPRISE', null),
});
const pay: fc.Arbitrary<Step> = fc.record({do: fc.constant('pay' as const), tab, save: fc.boolean()});
const customer: fc.Arbitrary<Step> = fc.oneof(
	fc.record({do: fc.constantFrom('decline' as const, 'linger' as const), tab}),
	fc.record({do: fc.constant('bank' as const), ok: fc.boolean()}),
	fc.record({do: fc.constant('card' as const), does: fc.constantFrom('works', 'declines', 'hesitates')}),
	fc.constantFrom<Step>({do: 'leave'}, {do: 'refund'}, {do: 'void'}, {do: 'pay', delayed: true}),
);
const deliver: fc.Arbitrary<Step> = fc.record({
	do: fc.constant('deliver' as const),
	how: fc.constantFrom(
		...(['in order', 'in order', 'backwards', 'newest', 'oldest', 'twice', 'lose', 'lose for good'] as const),
		'old ones again' as const,
	),
});
const fault: fc.Arbitrary<Step> = fc.record({
	do: fc.constant('fault' as const),
	gateway: fc.constantFrom('A' as const, 'B' as const),
	how: fc.constantFrom('refuse', 'drop', 'drop after'),
	after: fc.constantFrom(0, 0, 1, 2),
});
const wait: fc.Arbitrary<Step> = fc.record({
	do: fc.constant('wait' as const),
	// Minutes to months; around the end of a checkout, a day, the tries of a renewal, a month, the grace.
	minutes: fc.constantFrom(1, 16, 61, DAY, 3 * DAY, 7 * DAY + 5, 20 * DAY, 28 * DAY, 31 * DAY, 38 * DAY, 70 * DAY),
});
const route = oneOf([3, checkout], [3, change], [3, ask], [1, ops]);
const small = oneOf([3, route], [2, pay], [3, deliver], [1, wait]);
const crash: fc.Arbitrary<Step> = fc.record({
	do: fc.constant('crash' as const),
	at: fc.integer({min: 1, max: 45}),
	during: fc.oneof(route, deliver, wait),
});
const together: fc.Arbitrary<Step> = fc.record({
	do: fc.constant('together' as const),
	steps: fc.array(small, {minLength: 2, maxLength: 3}),
});

export const step: fc.Arbitrary<Step> = oneOf(
	[6, checkout],
	[6, change],
	[4, ask],
	[2, ops],
	[9, pay],
	[4, customer],
	[8, deliver],
	[6, wait],
	[2, fault],
	[3, crash],
	[2, together],
	[1, fc.constantFrom<Step>({do: 'eager', on: true}, {do: 'eager', on: false}, {do: 'quiet'})],
	[1, fc.constant<Step>({do: 'delete'})],
);

/** A purchase, whose events are mostly delivered. */
const bought = fc
	.tuple(checkout, pay, fc.option(deliver, {freq: 4}))
	.map((steps) => steps.flatMap((one) => (one === null ? [] : [one])));

/** The end of a period that is renewed by a saved card, which something may be wrong with. */
const renewed = fc
	.tuple(paid, fc.array(fc.oneof(customer, fault, ask, change), {maxLength: 2}), fc.nat({max: 25}))
	.map(([plan, more, at]): Step[] => [
		{do: 'checkout', plan, currency: 'EGP'},
		{do: 'pay', save: true},
		{do: 'deliver'},
		...more,
		at < 6 ? {do: 'wait', minutes: 28 * DAY} : {do: 'crash', at: at - 4, during: {do: 'wait', minutes: 28 * DAY}},
	]);

/** Most begin with something that is bought, because little happens to who never did. */
const sequenceOf = (least: number, most: number): fc.Arbitrary<Step[]> =>
	fc
		.tuple(
			oneOf([6, bought], [2, renewed], [2, fc.constant<Step[]>([])]),
			fc.array(step, {minLength: least, maxLength: most, size: 'max'}),
		)
		.map(([begin, more]) => [...begin, ...more]);

/** Mostly short ones, because most failures take few steps; and long ones. */
export const sequence: fc.Arbitrary<Step[]> = oneOf([12, sequenceOf(1, 5)], [1, sequenceOf(8, 25)]);
