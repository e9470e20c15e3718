import {type Finding, findingsOf} from '../../doctor/finding.ts';
import type {AndroidApp} from './android-app.ts';
import {configHint, type ExpectedAndroid} from './expected-app.ts';
import {isPlaceholder, placeText} from './located.ts';

const {ok, warn, fail} = findingsOf('Android');

const namesOf = (android: ExpectedAndroid[]): string => android.map(({packageName}) => packageName).join(' or ');

/** Whether the app's package is configured. */
export const packageFinding = (
	{packageName, packageSetting, place}: AndroidApp,
	android: ExpectedAndroid[],
	orgKey: string,
): Finding => {
	if (packageName === null && packageSetting !== null) {
		return fail(
			'android.package',
			`${packageSetting} is missing (${placeText(place)})`,
			`Set ${packageSetting} to ${namesOf(android)}`,
		);
	}

	if (packageName === null || isPlaceholder(packageName.text)) {
		return ok('android.package', `${placeText(place)} does not name the package; a merged manifest or an APK does`);
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
	apps: readonly ExpectedAndroid[],
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

/** Findings for the certificates of an APK; that of the store is another one if Play signs the app. */
export const apkFingerprints = (
	{fingerprints, place}: AndroidApp,
	apps: readonly ExpectedAndroid[],
	orgKey: string,
): Finding[] => {
	if (fingerprints?.length === 0) {
		return [warn('android.fingerprint', `${placeText(place)} is not signed`, 'Check the APK that is published')];
	}

	return givenFingerprints(fingerprints ?? [], apps, orgKey).map((finding) =>
		finding.status === 'ok'
			? finding
			: warn(
					finding.check,
					`${finding.message}; its key signed this APK (${placeText(place)})`,
					'Phones check the app signing key of Play, not the key of the APK at hand: compare Play Console, App integrity',
				),
	);
};
