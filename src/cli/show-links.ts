import type {LinkWithDomain} from '../client/link-shapes.ts';
import {createClock} from '../clock.ts';
import type {Context} from './command.ts';
import {inParallel} from './import/in-parallel.ts';
import type {LinkSurface} from './server/link-surface.ts';
import type {Page} from './server/list-pages.ts';
import type {Column} from './terminal/output.ts';

/** The most links whose clicks are counted for a list, each with a request. */
const MOST_COUNTED = 100;
/** Concurrent requests. */
const AT_ONCE = 4;
/** A shorter path is never cut. */
const PATH_WIDTH = 40;

/** Clicks of the last 30 days by link; null where nobody counts them. */
const readClicks = async (
	{client, base, credential}: LinkSurface,
	links: readonly LinkWithDomain[],
): Promise<Map<string, number> | null> => {
	if (credential === 'key' || links.length > MOST_COUNTED) {
		return null;
	}

	const clicks = new Map<string, number>();
	const each = async function* () {
		yield* links;
	};
	const stats = base.replace(/links$/, 'stats');
	const count = async ({id}: LinkWithDomain) => {
		const {totals} = await client.get<{totals: {clicks: number}}>(stats, {linkId: id, interval: 'month'});
		clicks.set(id, totals.clicks);
	};
	for await (const _ of inParallel(each(), AT_ONCE, count)) {
		// Each count is kept.
	}

	return clicks;
};

const stateOf = ({isActive, expiry}: LinkWithDomain, now: Date): string =>
	isActive ? (expiry !== null && Date.parse(expiry) <= now.getTime() ? 'expired' : 'active') : 'inactive';

/** Links as a table: the code, which every command takes, comes first and is never cut. */
export const showLinks = async (
	{show}: Pick<Context, 'show'>,
	surface: LinkSurface,
	page: Page<LinkWithDomain>,
): Promise<void> => {
	const clicks = show.json ? null : await readClicks(surface, page.data);
	const now = createClock(0).now();
	const counted: Column<LinkWithDomain> = {
		title: 'CLICKS 30D',
		value: ({id}) => (clicks?.get(id) ?? 0).toLocaleString('en'),
		align: 'right',
	};
	await show.page(
		page,
		[
			{title: 'SHORT CODE', value: ({shortCode}) => shortCode},
			{title: 'PATH', value: ({path}) => path, flexible: true, least: PATH_WIDTH},
			...(clicks === null ? [] : [counted]),
			{title: 'STATE', value: (link) => stateOf(link, now)},
			{title: 'TITLE', value: ({title}) => title, flexible: true},
		],
		'oplink links create --path /sale, or oplink links list without a filter',
	);
};
