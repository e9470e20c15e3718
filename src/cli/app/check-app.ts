import {existsSync} from 'node:fs';
import {stat} from 'node:fs/promises';
import path from 'node:path';
import {type Finding, findingsOf} from '../../operations/finding.ts';
import type {Io} from '../terminal/io.ts';
import {checkAndroid, givenFingerprints} from './check-android.ts';
import {checkEntitlements, checkInfo, iosConfigFindings} from './check-ios.ts';
import {androidAppOf, entitlementsOf, infoPlistOf} from './declared-app.ts';
import type {ExpectedApp} from './expected-app.ts';
import {expoAppOf, withPlugin} from './expo-app.ts';
import {readJson, readPlist, readXml} from './read-files.ts';
import {
	FileFault,
	filledInFinding,
	type Located,
	mayBecome,
	type Place,
	placeText,
	readAppFile,
	readText,
	type Value,
} from './source-position.ts';

/** The files of an app, as the caller names them; `-` is standard input. */
export type AppFiles = {android?: string; ios?: string; info?: string; expo?: string};

/** Folders from a manifest or an Info.plist up to the root of a Flutter project: `android/app/src/main`. */
const FLUTTER_DEPTH = 5;
const DYNAMIC = ['app.config.ts', 'app.config.js', 'app.config.mjs', 'app.config.cjs'];

const isFlutterProject = (file: string): boolean =>
	Array.from({length: FLUTTER_DEPTH}, (_, depth) => path.resolve(path.dirname(file), '../'.repeat(depth))).some(
		(folder) => existsSync(path.join(folder, 'pubspec.yaml')),
	);

/** A switch of Flutter's own link handling, in one of the two files. */
type FlutterSwitch = {name: string; found: Located | null; place: Place};

/**
 * Both must be off: otherwise Flutter opens a link as a route of its own, beside the plugin that reads it. Recent
 * versions have it on by default.
 */
const checkFlutter = (switches: readonly FlutterSwitch[]): Finding[] =>
	switches.map(({name, found, place}) => {
		const {ok, fail} = findingsOf('Flutter');
		const at = placeText(found?.place ?? place);
		if (found !== null && mayBecome(found.text, 'false')) {
			return filledInFinding('Flutter', 'flutter.switch', `${name} is`, found);
		}

		return found?.text.toLowerCase() === 'false'
			? ok('flutter.switch', `${name} is false (${at})`)
			: fail(
					'flutter.switch',
					`${name} is ${found === null ? 'missing' : found.text}: Flutter opens links itself, beside the plugin (${at})`,
					`Set ${name} to false`,
				);
	});

/** The next step for a binary file: an APK or a bundle, a property list, or anything else. */
const nextForBinary = {
	android: (file: string): string =>
		'Check the merged manifest, in a folder of app/build/intermediates/merged_manifests, or print that of an APK: ' +
		`apkanalyzer manifest print ${file} > AndroidManifest.xml`,
	plist: (file: string): string => `Convert a property list: plutil -convert xml1 ${file}`,
	expo: 'Give app.json, or the output of npx expo config --json',
};

/** An Expo configuration: app.json, its folder without program code, or the output of `npx expo config --json`. */
const readExpo = async (io: Io, given: string): Promise<Value> => {
	if (given === '-') {
		return readJson(await readText(io.stdin as AsyncIterable<Uint8Array>, given, nextForBinary.expo), 'standard input');
	}

	const target = path.resolve(io.cwd, given);
	if (!(await stat(target)).isDirectory()) {
		return readJson(await readAppFile(target, given, nextForBinary.expo), given);
	}

	const program = DYNAMIC.find((name) => existsSync(path.join(target, name)));
	const file = path.join(given, program ?? 'app.json');
	if (program !== undefined) {
		throw new FileFault(
			'it is a program, which is not run here',
			{file},
			'Give its result: npx expo config --json > expo.json, then --expo expo.json',
		);
	}

	return readJson(await readAppFile(path.join(target, 'app.json'), file, nextForBinary.expo), file);
};

/** Compares the files of an app with the server's configuration, for the hosts that systems verify. */
export const checkApp = async (
	io: Io,
	files: AppFiles & {fingerprints: readonly string[]},
	all: ExpectedApp,
): Promise<Finding[]> => {
	const expected = {...all, hosts: all.hosts.filter(({isPublic}) => isPublic)};
	const findings: Finding[] = [];
	const switches: FlutterSwitch[] = [];
	let isFlutter = false;
	const noteFlutter = (name: string, app: {flutterLinks: FlutterSwitch['found']; place: Place}, target: string) => {
		switches.push({name, found: app.flutterLinks, place: app.place});
		isFlutter ||= app.flutterLinks !== null || isFlutterProject(target);
	};
	/** The content of a file; null if none was named, or if it is invalid, which becomes a finding. */
	const read = async <T>(
		area: string,
		file: string | undefined,
		reader: (target: string, name: string) => Promise<T>,
	): Promise<T | null> => {
		try {
			return file === undefined ? null : await reader(path.resolve(io.cwd, file), file);
		} catch (error) {
			if (!(error instanceof FileFault)) {
				throw error;
			}

			findings.push(findingsOf(area).fail('app.file', `${placeText(error.place)}: ${error.message}`, error.next));
			return null;
		}
	};
	const plist = async (target: string, name: string): Promise<Value> =>
		readPlist(await readAppFile(target, name, nextForBinary.plist(name)), name);

	const expo = await read('Expo', files.expo, async (_, name) => expoAppOf(withPlugin(await readExpo(io, name))));
	const manifest = await read('Android', files.android, async (target, name) =>
		androidAppOf(readXml(await readAppFile(target, name, nextForBinary.android(name)), name)),
	);
	if (manifest !== null) {
		noteFlutter('flutter_deeplinking_enabled', manifest, path.resolve(io.cwd, files.android ?? ''));
		isFlutter ||= manifest.isFlutter;
	}

	const signed = await read('iOS', files.ios, async (...file) => entitlementsOf(await plist(...file)));
	const info = await read('iOS', files.info, async (...file) => infoPlistOf(await plist(...file)));
	if (info !== null) {
		noteFlutter('FlutterDeepLinkingEnabled', info, path.resolve(io.cwd, files.info ?? ''));
	}

	const ofIos = [
		...[signed, expo?.entitlements ?? null].flatMap((app) => (app === null ? [] : checkEntitlements(app, expected))),
		...[info, expo?.info ?? null].flatMap((app) => (app === null ? [] : checkInfo(app, expected))),
	];
	return [
		...findings,
		...givenFingerprints(files.fingerprints, expected.android, expected.orgKey),
		...[manifest, expo?.android ?? null].flatMap((app) => (app === null ? [] : checkAndroid(app, expected))),
		...(ofIos.length === 0 ? [] : iosConfigFindings(expected)),
		...ofIos,
		...(isFlutter ? checkFlutter(switches) : []),
	];
};

/**
 * Findings for hosts on which no system opens an app, such as those of a first attempt on this machine: no line of an
 * app would help.
 */
export const hostFindings = ({hosts}: ExpectedApp): Finding[] => {
	const {ok, warn} = findingsOf('Link hosts');
	return hosts.map(({name, isPublic}) =>
		isPublic
			? ok('app.host', name)
			: warn('app.host', `links on ${name} open no app on phones`, 'Set LINK_DOMAIN to a public host name'),
	);
};
