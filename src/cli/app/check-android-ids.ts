import type {AndroidConfig} from '../../links/app-config/app-config.ts';
import {type Finding, findingsOf} from '../../operations/finding.ts';
import type {AndroidApp} from './android-app.ts';
import {configHint} from './expected-app.ts';
import {mayBecome, placeText} from './source-position.ts';

const {ok, fail} = findingsOf('Android');

const namesOf = (android: AndroidConfig[]): string => android.map(({packageName}) => packageName).join(' or ');

/** Whether the app's package is configured. */
export const packageFinding = (
	{packageName, kit, place}: AndroidApp,
	android: AndroidConfig[],
	orgKey: string,
): Finding => {
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
