import {usageError} from '../cli-errors.ts';
import {escapedMarkup} from '../terminal/printable.ts';
import {clipDomains, type ExpectedApp} from './expected-app.ts';

export const platforms = ['ios', 'android', 'expo', 'react-native', 'flutter', 'capacitor'] as const;
export type Platform = (typeof platforms)[number];

/** A file with the lines that links need, in their context. */
type KitFile = {path: string; content: string};

const element = (name: string, attributes: Record<string, string>): string =>
	`<${name}${Object.entries(attributes)
		.map(([key, value]) => ` android:${key}="${escapedMarkup(value)}"`)
		.join('')} />`;

const indented = (lines: readonly string[], depth: number): string[] =>
	lines.map((line) => `${'    '.repeat(depth)}${line}`);

const filter = (head: string, data: readonly string[]): string[] => [
	head,
	...indented(
		[
			element('action', {name: 'android.intent.action.VIEW'}),
			element('category', {name: 'android.intent.category.DEFAULT'}),
			element('category', {name: 'android.intent.category.BROWSABLE'}),
			...data,
		],
		1,
	),
	'</intent-filter>',
];

const schemesOf = ({android}: ExpectedApp): string[] => [...new Set(android.flatMap(({scheme}) => scheme ?? []))];

/** A filter for each host, because Android combines the data elements of one filter: paths would apply to all hosts. */
const manifest = (app: ExpectedApp, switches: readonly string[]): string =>
	[
		'<manifest xmlns:android="http://schemas.android.com/apk/res/android">',
		'    <application>',
		'        <activity android:name=".MainActivity" android:exported="true">',
		...indented(switches, 3),
		...indented(
			[
				...app.hosts.flatMap(({name, isShared}) =>
					filter('<intent-filter android:autoVerify="true">', [
						element('data', {
							scheme: 'https',
							host: name,
							...(isShared ? {pathPrefix: `/${app.orgKey}/`} : {}),
						}),
					]),
				),
				...schemesOf(app).flatMap((scheme) => filter('<intent-filter>', [element('data', {scheme})])),
			],
			3,
		),
		'        </activity>',
		'    </application>',
		'</manifest>',
	].join('\n');

const plist = (lines: readonly string[]): string =>
	['<plist version="1.0">', '<dict>', ...indented(lines, 1), '</dict>', '</plist>'].join('\n');

const domainsOf = (app: ExpectedApp): string[] => [
	...app.hosts.map(({name}) => `applinks:${name}`),
	...clipDomains(app),
];

const entitlements = (app: ExpectedApp): string =>
	plist([
		'<key>com.apple.developer.associated-domains</key>',
		'<array>',
		...indented(
			domainsOf(app).map((domain) => `<string>${escapedMarkup(domain)}</string>`),
			1,
		),
		'</array>',
	]);

const info = ({ios}: ExpectedApp, switches: readonly string[]): string =>
	plist([
		...switches,
		...(ios?.scheme
			? [
					'<key>CFBundleURLTypes</key>',
					'<array>',
					'    <dict>',
					'        <key>CFBundleURLSchemes</key>',
					'        <array>',
					`            <string>${escapedMarkup(ios.scheme)}</string>`,
					'        </array>',
					'    </dict>',
					'</array>',
				]
			: []),
	]);

const appJson = (app: ExpectedApp): string => {
	const schemes = [...new Set([app.ios?.scheme ?? [], ...schemesOf(app)].flat())];
	const [first] = app.android;
	return JSON.stringify(
		{
			expo: {
				...(schemes.length === 0 ? {} : {scheme: schemes.length === 1 ? schemes[0] : schemes}),
				...(app.ios === null
					? {}
					: {
							ios: {
								...(app.ios.bundleId === null ? {} : {bundleIdentifier: app.ios.bundleId}),
								associatedDomains: domainsOf(app),
							},
						}),
				...(first === undefined
					? {}
					: {
							android: {
								package: first.packageName,
								intentFilters: app.hosts.map(({name, isShared}) => ({
									action: 'VIEW',
									autoVerify: true,
									data: [{scheme: 'https', host: name, ...(isShared ? {pathPrefix: `/${app.orgKey}/`} : {})}],
									category: ['DEFAULT', 'BROWSABLE'],
								})),
							},
						}),
			},
		},
		null,
		2,
	);
};

/** Where the two platforms' files are in a project of each kind. */
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
 * The files of an app with the lines that links need, and the least around them that makes a valid file.
 * @throws OperatorError if the server has no app of the platform.
 */
export const appKit = (app: ExpectedApp, platform: Platform): KitFile[] => {
	requireApps(app, platform);
	if (platform === 'expo') {
		return [{path: 'app.json', content: appJson(app)}];
	}

	const {ios, android}: {ios?: string; android?: string} = folders[platform];
	const isFlutter = platform === 'flutter';
	const off = {manifest: [element('meta-data', {name: 'flutter_deeplinking_enabled', value: 'false'})]};
	const files: KitFile[] = [];
	if (android !== undefined && app.android.length > 0) {
		files.push({path: `${android}/AndroidManifest.xml`, content: manifest(app, isFlutter ? off.manifest : [])});
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
