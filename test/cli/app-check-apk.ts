import {execFile} from 'node:child_process';
import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {promisify} from 'node:util';
import {deflateRawSync} from 'node:zlib';
import test, {type ExecutionContext} from 'ava';
import {readApk, readEntries} from '../../src/cli/app/apk.ts';
import {readBinaryXml} from '../../src/cli/app/binary-xml.ts';
import type {Element} from '../../src/cli/app/read-xml.ts';
import {packageRoot} from '../../src/package-root.ts';
import {exampleAppConfig} from '../helpers/builders.ts';
import {checkFiles, fault, folderOf, serverOf} from './_app-files.ts';

const runProgram = promisify(execFile);

/**
 * Made by Debian's aapt and apksigner from the lines that `app kit` prints: schemes 1, 2 and 3; scheme 1 alone;
 * none, and its strings in UTF-8, as newer tools write them.
 */
const fixture = (name: string): string => path.join(packageRoot, 'test/fixtures/app', `${name}.apk`);
const FINGERPRINT = '35:55:D0:E4:BF:83:E8:AC:F2:5A:29:F1:73:95:FC:9D:9D:A7:E8:93:38:02:37:CD:20:89:99:BB:49:D7:27:6E';

const withPrint = (print: string) => ({
	appConfig: {
		...exampleAppConfig,
		android: exampleAppConfig.android.map((app) => ({...app, sha256Fingerprints: [print]})),
	},
});

for (const name of ['signed', 'signed-v1']) {
	test(`${name}.apk is read, and its certificate is compared`, async (t) => {
		const [folder, {env}] = await Promise.all([folderOf(t), serverOf(t, withPrint(FINGERPRINT))]);
		const {exitCode, findings} = await checkFiles(folder, env, {android: await readFile(fixture(name))});
		t.deepEqual(
			findings.flatMap((one) => (one.area === 'Link hosts' ? [] : fault(one))),
			[
				'ok android.package the package com.acme.shop is configured (android:2)',
				`ok android.fingerprint the fingerprint ${FINGERPRINT} is configured`,
				'ok android.host links on go.acme.example open the app (android:8)',
				'ok android.host links on go.example.com open the app (android:14)',
				'ok android.scheme acmeshop:// opens the app (android:21)',
				'ok flutter.switch flutter_deeplinking_enabled is false (android:7)',
			],
		);
		t.is(exitCode, 0);
	});
}

test('another certificate, or none, is a warning, because Play may sign the app that phones get', async (t) => {
	const [folder, {env}] = await Promise.all([folderOf(t), serverOf(t)]);
	const signed = await checkFiles(folder, env, {android: await readFile(fixture('signed'))});
	t.is(signed.exitCode, 0);
	t.deepEqual(signed.faults.map(fault), [
		`warn android.fingerprint the fingerprint ${FINGERPRINT} is not configured; its key signed this APK (android:2)`,
	]);
	t.is(
		signed.faults[0]?.next,
		'Phones check the app signing key of Play, not the key of the APK at hand: compare Play Console, App integrity',
	);
	const unsigned = await checkFiles(folder, env, {android: await readFile(fixture('unsigned'))});
	t.deepEqual(unsigned.faults.map(fault), ['warn android.fingerprint android:2 is not signed']);
});

/** A zip with one file, which says that it has `size` bytes. */
const zipOf = (name: string, content: Buffer, size = content.length): Buffer => {
	const data = deflateRawSync(content);
	const local = Buffer.alloc(30);
	local.writeUInt32LE(0x04034b50, 0);
	local.writeUInt16LE(8, 8);
	local.writeUInt32LE(data.length, 18);
	local.writeUInt32LE(size, 22);
	local.writeUInt16LE(name.length, 26);
	const central = Buffer.alloc(46);
	central.writeUInt32LE(0x02014b50, 0);
	central.writeUInt16LE(8, 10);
	central.writeUInt32LE(data.length, 20);
	central.writeUInt32LE(size, 24);
	central.writeUInt16LE(name.length, 28);
	const end = Buffer.alloc(22);
	end.writeUInt32LE(0x06054b50, 0);
	end.writeUInt16LE(1, 8);
	end.writeUInt16LE(1, 10);
	end.writeUInt32LE(46 + name.length, 12);
	end.writeUInt32LE(30 + name.length + data.length, 16);
	return Buffer.concat([local, Buffer.from(name), data, central, Buffer.from(name), end]);
};

const BOMB = Buffer.alloc(8 * 1024 * 1024);

/** A binary manifest whose elements say that they have 65,535 attributes of no length. */
const overlapping = (): Buffer => {
	const element = Buffer.alloc(56);
	element.writeUInt16LE(0x0102, 0);
	element.writeUInt16LE(16, 2);
	element.writeUInt32LE(element.length, 4);
	element.writeUInt16LE(20, 24);
	element.writeUInt16LE(0xffff, 28);
	const head = Buffer.alloc(8);
	head.writeUInt16LE(3, 0);
	head.writeUInt16LE(8, 2);
	return Buffer.concat([head, ...Array.from({length: 2000}, () => element)]);
};

for (const [title, apk, message, next = /Correct the file/] of [
	['no manifest', zipOf('x', Buffer.from('y')), /it is not an APK: it has no AndroidManifest\.xml/, /Give an APK/],
	[
		'the form of a bundle',
		zipOf('base/manifest/AndroidManifest.xml', Buffer.from('x')),
		/it is an app bundle/,
		/bundletool build-apks.*universal\.apk.*merged_manifests/,
	],
	['a bomb', zipOf('AndroidManifest.xml', BOMB), /it has more than 4194304 bytes/],
	['a bomb that lies about its size', zipOf('AndroidManifest.xml', BOMB, 100), /too many bytes in the stream/],
	['a manifest that is text', zipOf('AndroidManifest.xml', Buffer.from('<manifest/>')), /android: it /],
	['attributes that overlap', zipOf('AndroidManifest.xml', overlapping()), /an attribute is too short/],
	['nothing but a start', Buffer.from('PK\u0003\u0004'), /not a valid APK/],
] as const) {
	test(`an APK with ${title} is refused`, async (t) => {
		const [folder, {env}] = await Promise.all([folderOf(t), serverOf(t)]);
		const {exitCode, faults} = await checkFiles(folder, env, {android: apk});
		t.is(exitCode, 1);
		t.deepEqual(
			faults.map(({check}) => check),
			['app.file'],
		);
		t.regex(faults[0]?.message ?? '', message);
		t.regex(faults[0]?.next ?? '', next);
	});
}

test('a damaged APK is reported, whichever byte is wrong', async (t) => {
	const [folder, {env}] = await Promise.all([folderOf(t), serverOf(t)]);
	const whole = await readFile(fixture('signed-v1'));
	const step = process.env['CI'] ? 7 : 101;
	for (let offset = 0; offset < whole.length; offset += step) {
		const damaged = Buffer.from(whole);
		damaged[offset] = (damaged[offset] ?? 0) ^ 0xff;
		for (const android of [damaged, whole.subarray(0, offset)]) {
			const {exitCode, stderr} = await checkFiles(folder, env, {android});
			t.true(exitCode <= 1, `${offset}: ${stderr}`);
			t.is(stderr, '');
		}
	}
});

/** The tree in the form of `aapt dump xmltree`, without types. */
const lines = (element: Element, depth = 0): string[] => [
	`${' '.repeat(depth)}E: ${element.name} (line=${element.place.line})`,
	...[...element.attributes].map(([name, {text}]) => `${' '.repeat(depth + 1)}A: ${name}=${text}`),
	...element.children.flatMap((child) => lines(child, depth + 1)),
];

/** A program of Debian's to compare with; null where it is not installed. */
const outputOf = async (t: ExecutionContext, program: string, ...rest: string[]): Promise<string | null> => {
	try {
		return (await runProgram(program, rest)).stdout;
	} catch (error) {
		if ((error as {code?: string}).code !== 'ENOENT') {
			throw error;
		}

		t.log(`skipped: ${program} is not installed`);
		t.pass();
		return null;
	}
};

for (const name of ['signed', 'unsigned']) {
	test(`the binary manifest of ${name}.apk is read as aapt reads it`, async (t) => {
		const output = await outputOf(t, 'aapt', 'dump', 'xmltree', fixture(name), 'AndroidManifest.xml');
		if (output === null) {
			return;
		}

		const dumped = output
			.trimEnd()
			.split('\n')
			.slice(1)
			.map((line) => {
				const [, space = '', text = ''] = /^( *)(.*)$/.exec(line) ?? [];
				const [, attribute, string, type, data] =
					/^A: ([^(=]+)(?:\(0x[0-9a-f]+\))?=(?:"([^"]*)"|\(type (0x[0-9a-f]+)\)(0x[0-9a-f]+))/.exec(text) ?? [];
				const value = string ?? (type === '0x12' ? String(Number(data) !== 0) : String(Number(data)));
				return `${' '.repeat(space.length / 2 - 1)}${attribute === undefined ? text : `A: ${attribute}=${value}`}`;
			});
		const {manifest} = await readEntries(fixture(name), name);
		t.deepEqual(lines(readBinaryXml(manifest, name)), dumped);
	});
}

for (const name of ['signed', 'signed-v1']) {
	test(`the certificate of ${name}.apk is the one that apksigner finds`, async (t) => {
		// It starts a Java machine, which takes a second.
		const output = process.env['CI'] ? await outputOf(t, 'apksigner', 'verify', '--print-certs', fixture(name)) : null;
		if (output === null) {
			t.pass();
			return;
		}

		const [, digest = ''] = /certificate SHA-256 digest: ([0-9a-f]{64})/.exec(output) ?? [];
		t.is(FINGERPRINT.replaceAll(':', '').toLowerCase(), digest);
		t.deepEqual((await readApk(fixture(name), name)).fingerprints, [FINGERPRINT]);
	});
}
