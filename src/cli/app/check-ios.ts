import type {IosConfig} from '../../links/app-config/app-config.ts';
import {type Finding, findingsOf} from '../../operations/finding.ts';
import type {Entitlements, InfoPlist} from './declared-app.ts';
import {clipDomains, configHint, type ExpectedApp, findingsOfHost, type Host, kitHint} from './expected-app.ts';
import {filledInFinding, isPlaceholder, type Located, mayBecome, type Place, placeText} from './source-position.ts';

const {ok, warn, fail} = findingsOf('iOS');

const SERVICE = 'applinks:';
const OTHER_SERVICE = /^(?:appclips|webcredentials|activitycontinuation):/;
const DEVELOPER = '?mode=developer';

/** The host of an associated domain, and whether it is for development only; null for another service. */
const linkHost = ({text}: Located): {host: string; isDeveloper: boolean} | null => {
	const [service = '', rest = ''] = [text.slice(0, SERVICE.length), text.slice(SERVICE.length)];
	const isDeveloper = rest.endsWith(DEVELOPER);
	return service === SERVICE
		? {host: (isDeveloper ? rest.slice(0, -DEVELOPER.length) : rest).toLowerCase(), isDeveloper}
		: null;
};

const includesHost = (pattern: string, {name}: Host): boolean =>
	pattern.startsWith('*.') ? name.endsWith(pattern.slice(1)) : pattern === name;

/** Whether the server has the association file that iOS reads for an entry: for a wildcard, the file of its parent domain. */
const isServed = (pattern: string, {served}: ExpectedApp): boolean =>
	!pattern.startsWith('*.') || served.includes(pattern.slice(2));

/** An entry that contains the host, but has a scheme, a port or a path, or lacks its service. */
const malformedEntry = (domains: readonly Located[], {name}: Host): Located | undefined =>
	domains.find(
		({text}) =>
			!OTHER_SERVICE.test(text) &&
			text
				.toLowerCase()
				.split(/[:/?\s]+/)
				.includes(name),
	);

/** The probable mistake if a host has no entry: an entry for a host that the server does not have, else the whole list. */
const suspectPlace = ({domains, place}: Entitlements, {hosts}: ExpectedApp): Place =>
	domains.find((domain) => {
		const entry = linkHost(domain);
		return entry !== null && !hosts.some((host) => includesHost(entry.host, host));
	})?.place ?? place;

const hostFindings = (app: Entitlements, expected: ExpectedApp, host: Host): Finding[] => {
	const entries = app.domains
		.map((domain) => ({...domain, ...linkHost(domain)}))
		.filter((entry) => entry.host !== undefined && includesHost(entry.host, host));
	const served = entries.filter((entry) => isServed(entry.host ?? '', expected));
	const plain = served.find(({isDeveloper}) => !isDeveloper);
	const developer = served.find(({isDeveloper}) => isDeveloper);
	const leftOver = developer === undefined ? '' : `${developer.text} (${placeText(developer.place)})`;
	if (plain !== undefined) {
		return [
			ok('ios.host', `links on ${host.name} open the app (${placeText(plain.place)})`),
			...(developer === undefined
				? []
				: [
						warn(
							'ios.developerMode',
							`development builds alone use ${leftOver}`,
							'Remove it from builds for the store',
						),
					]),
		];
	}

	if (developer !== undefined) {
		return [
			fail(
				'ios.developerMode',
				`links on ${host.name} open the app in development builds alone: ${leftOver}`,
				`Add ${SERVICE}${host.name}, without ${DEVELOPER}`,
			),
		];
	}

	const filledIn = app.domains.find(({text}) => mayBecome(text, SERVICE + host.name));
	if (filledIn !== undefined) {
		return [filledInFinding('iOS', 'ios.host', `${SERVICE}${host.name} may be`, filledIn)];
	}

	const [wildcard] = entries;
	if (wildcard !== undefined) {
		return [
			fail(
				'ios.host',
				`${wildcard.text} does not open links on ${host.name}: iOS takes the file of ${wildcard.host?.slice(2)} for it (${placeText(wildcard.place)})`,
				`Write ${SERVICE}${host.name}`,
			),
		];
	}

	const wrong = malformedEntry(app.domains, host);
	return [
		wrong === undefined
			? fail(
					'ios.host',
					`the associated domains lack ${SERVICE}${host.name} (${placeText(suspectPlace(app, expected))})`,
					kitHint(expected.orgKey, app.kit),
				)
			: fail(
					'ios.host',
					`the associated domain ${wrong.text} is not ${SERVICE}${host.name} (${placeText(wrong.place)})`,
					`Write ${SERVICE}${host.name}: no scheme, port, path or query`,
				),
	];
};

const clipFindings = ({domains, place, kit}: Entitlements, expected: ExpectedApp): Finding[] =>
	clipDomains(expected)
		.filter((domain) => !domains.some(({text}) => text === domain))
		.map((domain) => {
			const filledIn = domains.find(({text}) => mayBecome(text, domain));
			return filledIn === undefined
				? fail(
						'ios.appClip',
						`the associated domains lack ${domain} for the App Clip (${placeText(place)})`,
						kitHint(expected.orgKey, kit),
					)
				: filledInFinding('iOS', 'ios.appClip', `${domain} may be`, filledIn);
		});

const APP_ID = {check: 'ios.appId', what: 'app id', field: 'teamId (the App ID prefix) or bundleId'};
const BUNDLE_ID = {check: 'ios.bundleId', what: 'bundle id', field: 'bundleId'};

/** Compares an id of a file with the configured one; the build fills in most of them. */
const idFinding = (
	orgKey: string,
	{check, what, field}: {check: string; what: string; field: string},
	found: Located | null,
	configured: string | null,
): Finding[] => {
	if (found === null || configured === null || mayBecome(found.text, configured)) {
		return [];
	}

	const at = placeText(found.place);
	return [
		found.text === configured
			? ok(check, `the ${what} ${found.text} is configured (${at})`)
			: fail(
					check,
					`the ${what} is ${found.text}, but ${configured} is configured (${at})`,
					`Correct the app, or ${field} in the app configuration: ${configHint(orgKey)}`,
				),
	];
};

const appIdOf = ({teamId, bundleId}: IosConfig): string | null =>
	teamId === null || bundleId === null ? null : `${teamId}.${bundleId}`;

/** Compares the team with `teamId`, the prefix of the app id. Those of old apps are not their team's, so only the app id decides. */
const teamFindings = (team: Located | null, {ios, orgKey}: ExpectedApp): Finding[] => {
	const teamId = ios?.teamId ?? null;
	if (team === null || teamId === null || mayBecome(team.text, teamId)) {
		return [];
	}

	const at = placeText(team.place);
	return [
		team.text === teamId
			? ok('ios.teamId', `the team id ${teamId} is configured (${at})`)
			: warn(
					'ios.teamId',
					`the team id is ${team.text}, but ${teamId} is configured (${at})`,
					`Unless ${teamId} is the App ID prefix of an old app, correct teamId: ${configHint(orgKey)}`,
				),
	];
};

/** A finding for an iOS app that the server does not know; universal links need both ids. */
export const iosConfigFindings = ({ios, orgKey}: ExpectedApp): Finding[] =>
	ios !== null && appIdOf(ios) !== null
		? []
		: [
				fail(
					'ios.config',
					'the server has no iOS app with teamId and bundleId',
					`Add them to the app configuration: ${configHint(orgKey)}`,
				),
			];

/** Findings for the entitlements of an iOS app. */
export const checkEntitlements = (app: Entitlements, expected: ExpectedApp): Finding[] => [
	...expected.hosts.flatMap((host) => findingsOfHost(host, hostFindings(app, expected, host))),
	...clipFindings(app, expected),
	...idFinding(expected.orgKey, APP_ID, app.appId, expected.ios && appIdOf(expected.ios)),
	...(app.appId === null || isPlaceholder(app.appId.text) ? teamFindings(app.teamId, expected) : []),
];

/** Findings for the Info.plist of an iOS app. */
export const checkInfo = ({bundleId, schemes, place, kit}: InfoPlist, {ios, orgKey}: ExpectedApp): Finding[] => {
	const scheme = ios?.scheme ?? null;
	const found = schemes.find(({text}) => text.toLowerCase() === scheme?.toLowerCase());
	const filledIn = schemes.find(({text}) => mayBecome(text, scheme ?? ''));
	return [
		...(bundleId === null && kit === 'expo'
			? [
					fail(
						'ios.bundleId',
						`ios.bundleIdentifier is missing (${placeText(place)})`,
						`Set ios.bundleIdentifier${ios?.bundleId ? ` to ${ios.bundleId}` : ''}`,
					),
				]
			: []),
		...idFinding(orgKey, BUNDLE_ID, bundleId, ios?.bundleId ?? null),
		...(scheme === null
			? []
			: [
					found !== undefined
						? ok('ios.scheme', `${scheme}:// opens the app (${placeText(found.place)})`)
						: filledIn !== undefined
							? filledInFinding('iOS', 'ios.scheme', `the scheme ${scheme} may be`, filledIn)
							: fail(
									'ios.scheme',
									`CFBundleURLSchemes lacks ${scheme} (${placeText(schemes[0]?.place ?? place)})`,
									kitHint(orgKey, kit),
								),
				]),
	];
};
