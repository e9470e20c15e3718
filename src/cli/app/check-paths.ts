import {type Finding, findingsOf} from '../../operations/finding.ts';
import type {AndroidApp, Filter, PathRule} from './android-app.ts';
import type {Host} from './expected-app.ts';
import {pathMatcher} from './path-matcher.ts';
import {filledInHint, isPlaceholder, placeText} from './source-position.ts';

const {ok, warn, fail} = findingsOf('Android');

/** Rules and characters of one that are compared: real filters have a few, and each is tried with many paths. */
const MAX_RULES = 1000;
const MAX_CHARACTERS = 1000;

const ALPHANUMERIC = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'];
const CHARACTERS = [...ALPHANUMERIC, '-', '_'];

/** Codes with each character that one may have, and of the least and the greatest length. */
const CODES = [...CHARACTERS, CHARACTERS.join(''), 'aB3dE6f'];

/** Paths of links of the organization. */
const ownPaths = ({isShared}: Host, orgKey: string): string[] =>
	(isShared ? [`/${orgKey}/`] : ['/', `/${orgKey}/`]).flatMap((prefix) => CODES.map((code) => prefix + code));

/** Paths of links of those organizations whose orgKey differs in one character. */
const otherPaths = (orgKey: string): string[] =>
	[...orgKey].flatMap((own, index) =>
		ALPHANUMERIC.filter((character) => character !== own).map(
			(character) => `/${orgKey.slice(0, index)}${character}${orgKey.slice(index + 1)}/aB3dE6f`,
		),
	);

/**
 * The finding for the paths of a host's filters, which are otherwise right. One without a rule lets every path through.
 */
export const pathFinding = (
	filters: readonly Filter[],
	host: Host,
	{orgKey, kit}: {orgKey: string; kit: AndroidApp['kit']},
): Finding => {
	const prefix = host.isShared ? `/${orgKey}/` : '/';
	const ofPlugin = kit === 'expo' ? `Write ${host.name}/${orgKey} in links of the plugin, or set` : 'Set';
	const narrow = `${ofPlugin} pathPrefix ${prefix} in a filter for ${host.name} alone`;
	const rules = filters.flatMap(({paths, place}): PathRule[] =>
		paths.length === 0 ? [{kind: 'pathPrefix', text: '', place}] : paths,
	);
	const known = rules
		.filter(({text}) => !isPlaceholder(text) && text.length <= MAX_CHARACTERS)
		.slice(0, MAX_RULES)
		.map(({place, ...rule}) => ({place, matches: pathMatcher({place, ...rule})}));
	const own = ownPaths(host, orgKey);
	const others = host.isShared ? otherPaths(orgKey) : [];
	const wide = known.find(({matches}) => own.some(matches) && others.some(matches));
	if (wide !== undefined) {
		const at = placeText(wide.place);
		return fail('android.path', `the app also opens other organizations' links on ${host.name} (${at})`, narrow);
	}

	const [first] = rules;
	const at = placeText(first?.place ?? {file: ''});
	if (own.every((path) => known.some(({matches}) => matches(path)))) {
		const group = filters.find((filter) => filter.group !== null)?.group ?? null;
		return group === null
			? ok('android.host', `links on ${host.name} open the app (${placeText(filters[0]?.place ?? {file: ''})})`)
			: warn(
					'android.path',
					`the filter for ${host.name} has a uri-relative-filter-group, which is not compared (${placeText(group)})`,
					`Check that it lets every path below ${prefix} through`,
				);
	}

	const filledIn = rules.find(({text}) => isPlaceholder(text));
	if (filledIn !== undefined) {
		return warn(
			'android.path',
			`whether links below ${prefix} on ${host.name} open the app depends on ${filledIn.kind} ${filledIn.text}, which the build fills in (${placeText(filledIn.place)})`,
			filledInHint(filledIn.text),
		);
	}

	const message = `links below ${prefix} on ${host.name} do not open the app: its filter has ${first?.kind} ${first?.text} (${at})`;
	return host.isShared
		? fail('android.path', message, narrow)
		: warn(
				'android.path',
				message,
				'Give the host a filter of its own without paths, if all its links are for the app',
			);
};
