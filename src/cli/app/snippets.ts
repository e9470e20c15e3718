import {usageError} from '../cli-errors.ts';
import {escapedMarkup} from '../terminal/printable.ts';
import {clipDomains, type ExpectedApp, type Host} from './expected-app.ts';

export const platforms = ['ios', 'android', 'expo', 'react-native', 'flutter', 'capacitor'] as const;
export type Platform = (typeof platforms)[number];

type KitFile = {path: string; content: string};

const element = (name: string, attributes: Record<string, string>): string =>
	`<${name}${Object.entries(attributes)
		.map(([key, value]) => ` android:${key}="${escapedMarkup(value)}"`)
		.join('')} />`;

/** An element around others, each on its own lines. */
const around = (tag: string, lines: readonly string[]): string[] => [
	`<${tag}>`,
	...lines.map((line) => `    ${line}`),
	`</${tag.split(' ')[0]}>`,
];

const filter = (attributes: string, data: Record<string, string>): string[] =>
	around(`intent-filter${attributes}`, [
		element('action', {name: 'android.intent.action.VIEW'}),
		element('category', {name: 'android.intent.category.DEFAULT'}),
		element('category', {name: 'android.intent.category.BROWSABLE'}),
		element('data', data),
	]);

const schemesOf = ({android}: ExpectedApp): string[] => [...new Set(android.flatMap(({scheme}) => scheme ?? []))];

const webData = ({orgKey}: ExpectedApp, {name, isShared}: Host): Record<string, string> => ({
	scheme: 'https',
	host: name,
	...(isShared ? {pathPrefix: `/${orgKey}/`} : {}),
});

/** A filter for each host, because Android combines the data elements of one filter: paths would apply to all hosts. */
const manifest = (app: ExpectedApp, switches: readonly string[]): string => {
	const filters = [
		...app.hosts.flatMap((host) => filter(' android:autoVerify="true"', webData(app, host))),
		...schemesOf(app).flatMap((scheme) => filter('', {scheme})),
	];
	const activity = around('activity android:name=".MainActivity" android:exported="true"', [...switches, ...filters]);
	const namespace = 'xmlns:android="http://schemas.android.com/apk/res/android"';
	return around(`manifest ${namespace}`, around('application', activity)).join('\n');
};

const plist = (lines: readonly string[]): string =>
	['<plist version="1.0">', ...around('dict', lines), '</plist>'].join('\n');

const domainsOf = (app: ExpectedApp): string[] => [
	...app.hosts.map(({name}) => `applinks:${name}`),
	...clipDomains(app),
];

const strings = (texts: readonly string[]): string[] =>
	around(
		'array',
		texts.map((text) => `<string>${escapedMarkup(text)}</string>`),
	);

const entitlements = (app: ExpectedApp): string =>
	plist(['<key>com.apple.developer.associated-domains</key>', ...strings(domainsOf(app))]);

const info = ({ios}: ExpectedApp, switches: readonly string[]): string => {
	const types = (scheme: string) =>
		around('array', around('dict', ['<key>CFBundleURLSchemes</key>', ...strings([scheme])]));
	return plist([...switches, ...(ios?.scheme ? ['<key>CFBundleURLTypes</key>', ...types(ios.scheme)] : [])]);
};

const appJson = (app: ExpectedApp): string => {
	const schemes = [...new Set([app.ios?.scheme ?? [], ...schemesOf(app)].flat())];
	const [first] = app.android;
	const ios = app.ios && {bundleIdentifier: app.ios.bundleId ?? undefined, associatedDomains: domainsOf(app)};
	const android = first && {
		package: first.packageName,
		intentFilters: app.hosts.map((host) => ({
			action: 'VIEW',
			autoVerify: true,
			data: [webData(app, host)],
			category: ['DEFAULT', 'BROWSABLE'],
		})),
	};
	const expo = {scheme: schemes.length > 1 ? schemes : schemes[0], ios: ios ?? undefined, android};
	return JSON.stringify({expo}, null, 2);
};

const folders = {
	ios: {ios: 'App'},
	android: {android: 'app/src/main'},
	'react-native': {ios: 'ios/App', android: 'android/app/src/main'},
	flutter: {ios: 'ios/Runner', android: 'android/app/src/main'},
	capacitor: {ios: 'ios/App/App', android: 'android/app/src/main'},
} satisfies Record<Exclude<Platform, 'expo'>, {ios?: string; android?: string}>;

const requireApps = ({ios, android, orgKey}: ExpectedApp, platform: Platform): void => {
	const isMissing = platform === 'ios' ? !ios : platform === 'android' ? !android.length : !ios && !android.length;
	if (isMissing) {
		throw usageError(
			`The app configuration of ${orgKey} has no app for ${platform}`,
			`Add it: oplink app-config set --org ${orgKey} --file app-config.json`,
		);
	}
};

/**
 * The files of an app with the lines that links need, and only as much around them as a valid file needs.
 * @throws OperatorError if the server has no app of the platform.
 */
export const appKit = (app: ExpectedApp, platform: Platform): KitFile[] => {
	requireApps(app, platform);
	if (platform === 'expo') {
		return [{path: 'app.json', content: appJson(app)}];
	}

	const {ios, android}: {ios?: string; android?: string} = folders[platform];
	const isFlutter = platform === 'flutter';
	const files: KitFile[] = [];
	if (android !== undefined && app.android.length > 0) {
		const switches = isFlutter ? [element('meta-data', {name: 'flutter_deeplinking_enabled', value: 'false'})] : [];
		files.push({path: `${android}/AndroidManifest.xml`, content: manifest(app, switches)});
	}

	if (ios !== undefined && app.ios !== null) {
		files.push({path: `${ios}/${isFlutter ? 'Runner' : 'App'}.entitlements`, content: entitlements(app)});
		const switches = isFlutter ? ['<key>FlutterDeepLinkingEnabled</key>', '<false/>'] : [];
		if (isFlutter || app.ios.scheme !== null) {
			files.push({path: `${ios}/Info.plist`, content: info(app, switches)});
		}
	}

	return files;
};
