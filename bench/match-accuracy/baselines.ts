import {createClickStore, type Stored} from './click-store.ts';
import type {Click, Open} from './story.ts';
import type {Matcher, Mode} from './tally.ts';

/** A rule of another product: where and how long it looks, and which of the open clicks it takes, given newest first. */
type Rule = {
	name: string;
	near: 'ip' | 'net' | 'all';
	seconds: number;
	choose: (open: Open, clicks: Click[]) => Click | null;
};

const HOUR = 3600;

const primary = (language: string): string => language.slice(0, 2).toLowerCase();
const tag = (language: string): string => language.replace('_', '-').toLowerCase();

/** What is said of the version is the app's, as far as it is said. */
const isVersion = (click: Click, {version}: Open): boolean =>
	click.seen.version !== null && `${version}.`.startsWith(`${click.seen.version}.`);

/** Model by hints or User-Agent. */
const modelOf = ({seen, signals}: Click): string | null => signals?.model ?? seen.model;

/** Nothing that both sides say of platform, version and model differs; to these rules' advantage what is unknown is equal. */
const isSamePhone = (click: Click, open: Open): boolean =>
	click.seen.platform === open.platform &&
	(click.seen.version === null || isVersion(click, open)) &&
	(modelOf(click) === null || modelOf(click) === open.model);

const timezoneOf = ({signals}: Click): string | null => signals?.timezone.replace('Calcutta', 'Kolkata') ?? null;
const languageOf = ({signals, acceptLanguage}: Click): string => signals?.language ?? acceptLanguage;

const hasEqualPage = (click: Click, open: Open): boolean =>
	click.signals?.screen === open.screen &&
	timezoneOf(click) === open.timezone &&
	tag(languageOf(click)).startsWith(primary(open.language));

/** The best by points from a threshold on, the newest of equals. */
const best =
	(threshold: number, pointsOf: (open: Open, click: Click) => number): Rule['choose'] =>
	(open, clicks) => {
		let [leader, most]: [Click | null, number] = [null, threshold - 1];
		for (const click of clicks) {
			const points = pointsOf(open, click);
			if (points > most) {
				[leader, most] = [click, points];
			}
		}

		return leader;
	};

const sum = (...parts: Array<[isAlike: boolean, points: number]>): number =>
	parts.reduce((total, [isAlike, points]) => total + (isAlike ? points : 0), 0);

/** Their SDKs do not say what they send; the family of the platform's own browser is the best that they could. */
const isFamily = ({seen}: Click, {platform}: Open): boolean =>
	seen.family === (platform === 'ios' ? 'iphone|safari' : 'android|chrome');

/** As published, read to their advantage where something is open: each click matches once, a key confines to its tenant. */
export const rules: readonly Rule[] = [
	{name: 'newest of the address, 24 h', near: 'ip', seconds: 24 * HOUR, choose: (_, [newest]) => newest ?? null},
	{
		name: 'Branch',
		near: 'ip',
		seconds: 2 * HOUR,
		choose: (open, clicks) => clicks.find((click) => isSamePhone(click, open)) ?? null,
	},
	{
		name: 'Grovs',
		near: 'ip',
		seconds: HOUR / 12,
		choose: (open, clicks) => {
			const same = clicks.filter((click) => isSamePhone(click, open));
			const left = same.length > 1 ? same.filter((click) => hasEqualPage(click, open)) : same;
			return left.length === 1 ? (left[0] ?? null) : null;
		},
	},
	{
		name: 'Detour',
		near: 'all',
		seconds: HOUR / 4,
		choose: best(800, (open, click) =>
			sum(
				[click.ip === open.ip, 500],
				[modelOf(click) === open.model && isVersion(click, open), 450],
				[isFamily(click, open), 350],
				[timezoneOf(click) === open.timezone, 200],
				[click.signals?.screen === open.screen, 200],
				[primary(languageOf(click)) === primary(open.language), 100],
			),
		),
	},
	{
		name: 'LinkForty',
		near: 'net',
		seconds: 168 * HOUR,
		choose: best(70, (open, click) =>
			sum(
				[true, 40],
				[isFamily(click, open), 30],
				[timezoneOf(click) === open.timezone, 10],
				[primary(languageOf(click)) === primary(open.language), 10],
				[click.signals?.screen === open.screen, 10],
			),
		),
	},
	{
		name: 'Traceback',
		near: 'all',
		seconds: HOUR / 2,
		choose: best(1, (open, click) =>
			hasEqualPage(click, open)
				? sum(
						[true, 6],
						[tag(languageOf(click)) === tag(open.language), 4],
						[click.ip === open.ip, 5],
						[modelOf(click) === open.model, 3],
						[isVersion(click, open), click.seen.version === open.version ? 3 : 2],
					)
				: 0,
		),
	},
];

export const createBaseline = ({near, seconds, choose}: Rule, {key}: Pick<Mode, 'key'>): Matcher => {
	const store = createClickStore(() => null);
	return {
		record: store.record,
		match: (open) => {
			const since = new Date(open.at.getTime() - seconds * 1000);
			const organizationId = key ? open.organizationId : null;
			const found: Array<Stored<null>> = store.find({
				near,
				value: near === 'net' ? open.net : open.ip,
				organizationId,
				since,
				limit: Number.POSITIVE_INFINITY,
			});
			const chosen = choose(
				open,
				found.map(({click}) => click),
			);
			const stored = chosen && store.byId(chosen.id);
			return stored && store.claim(stored, open.at) ? {click: stored.click, confidence: null, probability: null} : null;
		},
	};
};
