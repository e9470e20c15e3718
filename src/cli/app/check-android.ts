import type {AndroidConfig} from '../../links/app-config/app-config.ts';
import {type Finding, findingsOf} from '../../operations/finding.ts';
import {pathFinding} from './check-paths.ts';
import type {AndroidApp, Filter, HostRule} from './declared-app.ts';
import {configHint, type ExpectedApp, findingsOfHost, type Host, kitHint} from './expected-app.ts';
import {bestOf, type Fault, schemeFaults, webFaults} from './filter-faults.ts';
import {filledInFinding, type Located, mayBecome, type Place, placeText} from './source-position.ts';

const findings = findingsOf('Android');
const {ok, warn, fail} = findings;

/** Why a rule for a host does not make Android open its links; null if it does, undefined if the rule is for another host. */
const hostFault = ({text, port}: HostRule, name: string, served: readonly string[]): string | null | undefined => {
	const lower = text.trim().toLowerCase();
	const parent = lower.slice(2);
	if (lower.startsWith('*') ? !name.endsWith(lower.slice(1)) : lower !== name) {
		return undefined;
	}

	if (text !== lower) {
		return 'hosts are compared letter by letter, in small letters';
	}

	if (port !== null) {
		return `it has the port ${port.text}, and links have none`;
	}

	if (!text.startsWith('*')) {
		return null;
	}

	return text.startsWith('*.') && served.includes(parent)
		? null
		: `Android verifies ${text.startsWith('*.') ? parent : 'nothing'} for it`;
};

const isOn = ({text}: Located): boolean => text !== 'false';

/** The probable mistake if a host is in no filter: a filter for web links without a known host, else the whole file. */
const suspectPlace = ({filters, place}: AndroidApp, {hosts, served}: ExpectedApp): Place => {
	const suspect = filters.find(
		(filter) =>
			(filter.autoVerify.some(isOn) || filter.schemes.some(({text}) => text === 'https')) &&
			!filter.hosts.some((rule) => hosts.some(({name}) => hostFault(rule, name, served) !== undefined)),
	);
	return suspect?.hosts[0]?.place ?? suspect?.place ?? place;
};

/** The finding for a host that is in no filter as Android compares it. */
const missingHost = (app: AndroidApp, expected: ExpectedApp, {name}: Host): Finding => {
	const rules = app.filters.flatMap(({hosts}) => hosts);
	const filledIn = rules.find(({text}) => mayBecome(text, name));
	if (filledIn !== undefined) {
		return filledInFinding('Android', 'android.host', `${name} may be the host`, filledIn);
	}

	const [meant] = rules.flatMap((rule) => {
		const reason = hostFault(rule, name, expected.served);
		return reason == null ? [] : [{...rule, reason}];
	});
	return meant === undefined
		? fail(
				'android.host',
				`no filter has the host ${name} (${placeText(suspectPlace(app, expected))})`,
				kitHint(expected.orgKey, app.kit),
			)
		: fail(
				'android.host',
				`the host ${meant.text} does not open links on ${name}: ${meant.reason} (${placeText(meant.place)})`,
				`Write the host ${name}, without a port`,
			);
};

const faultFinding = (check: string, what: string, {status, message, next}: Fault, {place}: {place: Place}): Finding =>
	findings[status](check, `the filter for ${what} ${message} (${placeText(place)})`, next);

const hostFindings = (app: AndroidApp, expected: ExpectedApp, host: Host): Finding[] => {
	const candidates = app.filters.filter(({hosts}) =>
		hosts.some((rule) => hostFault(rule, host.name, expected.served) === null),
	);
	const {filters, faults} = bestOf(candidates, webFaults);
	const [best] = filters;
	if (best === undefined) {
		return [missingHost(app, expected, host)];
	}

	const found = faults.map((fault) => faultFinding('android.filter', host.name, fault, best));
	if (found.some(({status}) => status === 'fail')) {
		return found;
	}

	const ofPaths = pathFinding(filters, host, {orgKey: expected.orgKey, kit: app.kit});
	return [...found, ...(found.length > 0 && ofPaths.status === 'ok' ? [] : [ofPaths]), ...mixedSchemes(best)];
};

/** Before Android 12 a filter with another scheme is not verified at all. */
const mixedSchemes = ({schemes}: Filter): Finding[] =>
	schemes
		.filter(({text}) => !['https', 'http'].some((scheme) => text === scheme || mayBecome(text, scheme)))
		.map(({text, place}) =>
			warn(
				'android.filter',
				`a filter with autoVerify also has the scheme ${text} (${placeText(place)})`,
				'Move it to a filter of its own: older versions of Android do not verify this one',
			),
		);

const schemeFinding = ({filters, place, kit}: AndroidApp, scheme: string, orgKey: string): Finding => {
	const own = filters.filter(({schemes}) => schemes.some(({text}) => text === scheme));
	const {
		filters: [best],
		faults,
	} = bestOf(own, schemeFaults);
	const fault = faults.find(({status}) => status === 'fail') ?? faults[0];
	if (best === undefined) {
		const filledIn = filters.flatMap(({schemes}) => schemes).find(({text}) => mayBecome(text, scheme));
		if (filledIn !== undefined) {
			return filledInFinding('Android', 'android.scheme', `${scheme} may be the scheme`, filledIn);
		}

		// A filter without data is where the scheme was.
		const empty = filters.find(
			({autoVerify, actions, hosts}) => !autoVerify.some(isOn) && actions.length > 0 && hosts.length === 0,
		);
		const at = placeText(empty?.schemes[0]?.place ?? empty?.place ?? place);
		return fail('android.scheme', `no filter has the scheme ${scheme} (${at})`, kitHint(orgKey, kit));
	}

	return fault === undefined
		? ok('android.scheme', `${scheme}:// opens the app (${placeText(best.place)})`)
		: faultFinding('android.scheme', `${scheme}://`, fault, best);
};

const namesOf = (android: AndroidConfig[]): string => android.map(({packageName}) => packageName).join(' or ');

const packageFinding = ({packageName, kit, place}: AndroidApp, android: AndroidConfig[], orgKey: string): Finding => {
	if (packageName === null && kit === 'expo') {
		return fail(
			'android.package',
			`android.package is missing (${placeText(place)})`,
			`Set android.package to ${namesOf(android)}`,
		);
	}

	if (packageName === null || android.some((app) => mayBecome(packageName.text, app.packageName))) {
		return ok('android.package', `${placeText(place)} does not name the package; a merged manifest does`);
	}

	const {text} = packageName;
	return android.some((app) => app.packageName === text)
		? ok('android.package', `the package ${text} is configured (${placeText(packageName.place)})`)
		: fail(
				'android.package',
				`the package ${text} is not configured, but ${namesOf(android)} (${placeText(packageName.place)})`,
				`Correct it, or add it to the app configuration: ${configHint(orgKey)}`,
			);
};

/** Findings for fingerprints that the caller gave, which are meant to be configured. */
export const givenFingerprints = (
	given: readonly string[],
	apps: readonly AndroidConfig[],
	orgKey: string,
): Finding[] =>
	given.map((print) =>
		apps.some(({sha256Fingerprints}) => sha256Fingerprints.includes(print))
			? ok('android.fingerprint', `the fingerprint ${print} is configured`)
			: fail(
					'android.fingerprint',
					`the fingerprint ${print} is not configured`,
					`Add it to sha256Fingerprints in the app configuration: ${configHint(orgKey)}`,
				),
	);

/** Findings for an Android app. */
export const checkAndroid = (app: AndroidApp, expected: ExpectedApp): Finding[] => {
	const {android, orgKey, hosts} = expected;
	if (android.length === 0) {
		return [
			fail('android.config', 'the server has no Android app', `Add it to the app configuration: ${configHint(orgKey)}`),
		];
	}

	const own = android.filter(({packageName}) => packageName === app.packageName?.text);
	const apps = own.length > 0 ? own : android;
	const schemes = new Set(apps.flatMap(({scheme}) => scheme ?? []));
	return [
		packageFinding(app, android, orgKey),
		...hosts.flatMap((host) => findingsOfHost(host, hostFindings(app, expected, host))),
		...[...schemes].map((scheme) => schemeFinding(app, scheme, orgKey)),
	];
};
