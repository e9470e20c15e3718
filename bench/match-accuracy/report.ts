import {rules} from './baselines.ts';
import {type Judged, pooled} from './judge.ts';
import {bins, criteria, type ScenarioName} from './parameters.ts';
import {calibration, ofConfidence, type Result, type Tally, tally} from './tally.ts';

const percent = (share: number | null, digits = 1): string => (share === null ? '–' : (share * 100).toFixed(digits));

/** A Markdown table; the first column is text, the others are figures. */
const table = (head: string[], rows: string[][]): string =>
	[head, head.map((_, index) => (index === 0 ? '---' : '---:')), ...rows]
		.map((cells) => `| ${cells.join(' | ')} |`)
		.join('\n');

const both = ({precision, recall}: Tally): string => `${percent(precision)} / ${percent(recall)}`;

type Part = 'guesses' | 'whole';

const byScenario = (
	judged: readonly Judged[],
	cells: (results: readonly Result[], one: Judged | null) => string[],
	part: Part,
) => [
	[
		'**all**',
		...cells(
			judged.flatMap((one) => one[part]),
			null,
		),
	],
	...judged.map((one) => [one.name, ...cells(one[part], one)]),
];

/** The share of installs after a click that any rule can find that starts from the address. */
const findable = (results: readonly Result[]): number => {
	const deferred = results.filter(({open}) => open.cause !== null);
	return deferred.filter(({open}) => open.cause?.ip === open.ip).length / deferred.length;
};

const accuracy = (judged: readonly Judged[]): string =>
	table(
		[
			'precision / recall in %',
			'opens',
			'tapped at the same address',
			'Oplink, guesses',
			'Oplink, whole system',
			...rules.map(({name}) => name),
		],
		byScenario(
			judged,
			(guesses, one) => [
				String(guesses.length),
				percent(findable(guesses)),
				both(tally(guesses)),
				both(one ? tally(one.whole) : pooled(judged, ({whole}) => whole)),
				...rules.map(({name}) =>
					both(one ? tally(one.others.get(name) ?? []) : pooled(judged, ({others}) => others.get(name) ?? [])),
				),
			],
			'guesses',
		),
	);

const confidences = (judged: readonly Judged[], part: Part): string =>
	table(
		['right in % (guesses)', 'high', 'medium', 'low', 'recall of high', 'no click, given a link'],
		byScenario(
			judged,
			(results) => {
				const of = (...wanted: Parameters<typeof ofConfidence>) => tally(results, ofConfidence(...wanted));
				const organic = results.filter(({open}) => open.cause === null);
				return [
					...(['high', 'medium', 'low'] as const).map((one) => `${percent(of(one).precision, 2)} (${of(one).matches})`),
					percent(of('high').recall),
					percent(organic.filter(({answer}) => answer !== null).length / organic.length),
				];
			},
			part,
		),
	);

const calibrations = (judged: readonly Judged[], part: Part): string =>
	table(
		['probability', 'guesses', 'predicted', 'seen', 'difference', 'standard error'],
		calibration(
			judged.flatMap((one) => one[part]),
			bins,
		).map(({low, high, guesses, predicted, seen}) => [
			`${low} to ${high}`,
			String(guesses),
			percent(predicted, 2),
			percent(seen, 2),
			percent(seen - predicted, 2),
			percent(Math.sqrt((predicted * (1 - predicted)) / Math.max(1, guesses)), 2),
		]),
	);

/** Of each scenario, in the bins' order: predicted and seen. */
const calibrationByScenario = (judged: readonly Judged[]): string =>
	table(
		['predicted / seen (guesses)', ...bins.slice(0, -1).map((low, index) => `${low} to ${bins[index + 1]}`)],
		judged.map(({name, guesses: results}) => [
			name,
			...calibration(results, bins).map(({guesses, predicted, seen}) =>
				guesses === 0 ? '–' : `${percent(predicted)} / ${percent(seen)} (${guesses})`,
			),
		]),
	);

/** The two populations that were added because words promised too much there. */
const crowded: ReadonlySet<string> = new Set<ScenarioName>(['campus of one zone', 'equal phones']);

type Criterion = {name: string; asked: string; seen: string; isMet: boolean};

/** The criteria, each with what is seen. A share of nothing meets none. */
export const check = (judged: readonly Judged[]): Criterion[] => {
	const atLeast = (name: string, seen: number | null, asked: number): Criterion => ({
		name,
		asked: `≥ ${percent(asked)} %`,
		seen: `${percent(seen, 2)} %`,
		isMet: seen !== null && seen >= asked,
	});
	const none = (name: string, count: number): Criterion => ({
		name,
		asked: '0',
		seen: String(count),
		isMet: count === 0,
	});
	const guesses = pooled(judged, (one) => one.guesses);
	const share = (part: Part, confidence: 'high' | 'medium') =>
		pooled(judged, (one) => one[part], ofConfidence(confidence)).precision;
	/** What a word says in the scenario where it is right least often, of those with enough such answers. */
	const lowest = (confidence: 'high' | 'medium' | 'low', part: Part): Criterion => {
		const worst = judged
			.map((one) => ({name: one.name, ...tally(one[part], ofConfidence(confidence))}))
			.filter(({matches}) => matches >= criteria.perScenario.answers)
			.toSorted((one, other) => (one.precision ?? 1) - (other.precision ?? 1))[0];
		return atLeast(
			`\`${confidence}\` in the worst scenario, ${part === 'whole' ? 'whole system' : 'guesses alone'}: ${worst?.name ?? 'none'}`,
			worst?.precision ?? null,
			criteria.perScenario[confidence],
		);
	};
	const elsewhere = pooled(
		judged.filter(({name}) => !crowded.has(name)),
		(one) => one.guesses,
	);
	const full = calibration(
		judged.flatMap((one) => one.guesses),
		bins,
	).filter(({guesses: count}) => count >= criteria.calibration.guesses);
	const off = full.map(({predicted, seen}) => Math.abs(predicted - seen));
	return [
		atLeast('precision of guesses', guesses.precision, criteria.guessPrecision),
		atLeast('recall of guesses', guesses.recall, criteria.guessRecall),
		atLeast('precision of guesses, without the two crowds', elsewhere.precision, criteria.guessPrecision),
		atLeast('recall of guesses, without the two crowds', elsewhere.recall, criteria.guessRecall),
		atLeast('`high`, guesses alone', share('guesses', 'high'), criteria.highAlone),
		atLeast('`high`, whole system', share('whole', 'high'), criteria.highWhole),
		...(['high', 'medium', 'low'] as const).flatMap((one) => [lowest(one, 'guesses'), lowest(one, 'whole')]),
		atLeast('`medium`, guesses alone', share('guesses', 'medium'), criteria.medium),
		{
			name: `calibration, worst of ${full.length} bins with ${criteria.calibration.guesses} guesses`,
			asked: `≤ ${percent(criteria.calibration.within)} points`,
			seen: full.length === 0 ? 'nothing is predicted' : `${percent(Math.max(...off), 2)} points`,
			isMet: full.length > 0 && off.every((one) => one <= criteria.calibration.within),
		},
		none(
			'wrong tenants with a key',
			pooled(judged, (one) => one.guesses).wrongTenant + pooled(judged, (one) => one.whole).wrongTenant,
		),
		none(
			'phones that the product reads wrongly',
			judged.reduce((sum, {misread}) => sum + misread.length, 0),
		),
	];
};

const withoutKey = (judged: readonly Judged[]): string =>
	table(
		['without a key', 'matches', 'wrong tenant', '`high` and wrong tenant', 'precision / recall'],
		judged
			.filter(({guessesWithoutKey}) => guessesWithoutKey.length > 0)
			.flatMap(({name, guessesWithoutKey, wholeWithoutKey}) =>
				[['guesses', guessesWithoutKey] as const, ['whole system', wholeWithoutKey] as const].map(([part, results]) => {
					const all = tally(results);
					const {wrongTenant} = tally(results, ofConfidence('high'));
					return [`${name}, ${part}`, String(all.matches), String(all.wrongTenant), String(wrongTenant), both(all)];
				}),
			),
	);

/** Two seeds, as many as the criteria speak of. */
type Pair = {seeds: readonly number[]; judged: readonly Judged[]};

/** What a pair of seeds alone shows of each criterion; bold where that misses it. */
const byPair = (criterions: readonly Criterion[], pairs: readonly Pair[]): string =>
	table(
		['seeds', ...criterions.map(({name}) => name.split(':')[0] ?? name)],
		pairs.map(({seeds, judged}) => [
			seeds.join(' and '),
			...check(judged).map(({seen, isMet}) => (isMet ? seen : `**${seen}**`)),
		]),
	);

/** Everything as Markdown, and whether all criteria are met by all seeds together. */
export const describe = (judged: readonly Judged[], pairs: readonly Pair[]): {text: string; isMet: boolean} => {
	const criterions = check(judged);
	const misread = [...new Set(judged.flatMap((one) => one.misread))].slice(0, 10);
	const blocks = [
		'## Criteria',
		table(
			['criterion', 'asked', 'seen', 'met'],
			criterions.map(({name, asked, seen, isMet}) => [name, asked, seen, isMet ? 'yes' : '**no**']),
		),
		...(pairs.length > 1 ? ['## Criteria, each pair of seeds alone', byPair(criterions, pairs)] : []),
		'## Precision and recall, with a key',
		accuracy(judged),
		'## Confidences, guesses alone',
		confidences(judged, 'guesses'),
		'## Confidences, whole system',
		confidences(judged, 'whole'),
		...(judged.some(({guesses}) => guesses.some(({answer}) => answer?.probability != null))
			? [
					'## Calibration, guesses alone',
					calibrations(judged, 'guesses'),
					calibrationByScenario(judged),
					'## Calibration, whole system',
					calibrations(judged, 'whole'),
				]
			: []),
		'## Without a key',
		withoutKey(judged),
		...(misread.length === 0 ? [] : ['## Read wrongly', ...misread.map((line) => `- ${line}`)]),
	];
	return {text: `${blocks.join('\n\n')}\n`, isMet: criterions.every(({isMet}) => isMet)};
};
