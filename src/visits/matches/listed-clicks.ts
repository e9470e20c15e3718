import {readEffectiveAddresses} from '../../links/links/effective-addresses.ts';
import {addressesOf} from '../../links/links/link-safety.ts';
import {sql} from '../../platform/db/sql.ts';
import type {Services} from '../../services.ts';
import type {MatchClick} from './match-click-store.ts';
import {linkOfClick} from './match-clicks.ts';

type Deps = Pick<Services, 'db' | 'linkPolicy'>;

/** Whether a list blocks the link of a click. Without lists it costs no statement. */
export const isListed = async ({db, linkPolicy}: Deps, clickId: string): Promise<boolean> => {
	if (linkPolicy.isEmpty) {
		return false;
	}

	const links = await readEffectiveAddresses(
		db,
		'addresses of the link of a click',
		sql`links.id = ${linkOfClick(sql`${clickId}::uuid`)}`,
	);
	return links.some((link) => linkPolicy.ofAll(addressesOf(link))?.state === 'block');
};

/** The clicks; those of links that a list blocks are marked. Without lists it costs no statement. */
export const withListed = async ({db, linkPolicy}: Deps, clicks: readonly MatchClick[]): Promise<MatchClick[]> => {
	const ids = linkPolicy.isEmpty ? [] : [...new Set(clicks.map(({linkId}) => linkId))];
	const links =
		ids.length === 0
			? []
			: await readEffectiveAddresses(
					db,
					'addresses of links of clicks',
					// A subquery hides the array from the planner, which would make a plan for each length.
					sql`links.id = ANY((SELECT ${ids}::uuid[])::uuid[])`,
				);
	const blocked = new Set(
		links.filter((link) => linkPolicy.ofAll(addressesOf(link))?.state === 'block').map(({id}) => id),
	);
	return clicks.map((click) => (blocked.has(click.linkId) ? {...click, isLive: false, isBlocked: true} : click));
};
