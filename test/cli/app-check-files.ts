import test from 'ava';
import {appProject} from './_app-files.ts';
import {ends} from './_run-cli.ts';

/** The entry of a zip, as an APK begins, and more bytes than a text may have. */
const APK = Buffer.concat([Buffer.from('504b03041400000808000000', 'hex'), Buffer.alloc(5 * 1024 * 1024, 'x')]);
/** Android's compiled form of a manifest. */
const COMPILED_MANIFEST = Buffer.from('0300080050000000', 'hex');
/** `{application-identifier, com.apple.developer.associated-domains}`, made by Python's plistlib. */
const BINARY_PLIST = Buffer.from(
	'YnBsaXN0MDDSAQIDBF8QFmFwcGxpY2F0aW9uLWlkZW50aWZpZXJfECZjb20uYXBwbGUuZGV2ZWxvcGVyLmFzc29jaWF0ZWQtZG9tYWluc18QHEFCQ0RFMTIzNDUuY29tLmFjbWUuc2hvcC5pb3OhBV8QGGFwcGxpbmtzOmdvLmFjbWUuZXhhbXBsZQgNJk9ucAAAAAAAAAEBAAAAAAAAAAYAAAAAAAAAAAAAAAAAAACL',
	'base64',
);
const MERGED_MANIFEST = /app\/build\/intermediates\/merged_manifest.*apkanalyzer manifest print android >/;

for (const [title, files, next] of [
	['an APK', {android: APK}, MERGED_MANIFEST],
	['a compiled manifest', {android: COMPILED_MANIFEST}, MERGED_MANIFEST],
	['binary entitlements', {ios: BINARY_PLIST}, /plutil -convert xml1 ios$/],
	['a binary Info.plist', {info: BINARY_PLIST}, /plutil -convert xml1 info$/],
	['a binary configuration of Expo', {expo: BINARY_PLIST}, /npx expo config --json$/],
] as const) {
	test(`${title} is refused with the command that converts it`, async (t) => {
		const {check} = await appProject(t);
		const {faults, findings} = ends(t, await check(files), 1);
		t.deepEqual(faults, [`fail app.file ${Object.keys(files)[0]}: it is a binary file, and only text is read`]);
		t.regex(findings.find(({status}) => status === 'fail')?.next ?? '', next);
	});
}

test('a binary configuration on standard input is refused', async (t) => {
	const {run} = await appProject(t);
	ends(t, await run(['--expo', '-'], 'a\0b'), 1, {stdout: /-: it is a binary file, and only text is read/});
});

for (const [title, files, message] of [
	['a missing comma', {expo: '{\n"a": 1\n"b": 2}'}, 'expo:3: it is not valid JSON: Unexpected token String found.'],
	['code', {expo: '{a: process.exit(9)}'}, 'expo:1: it is not valid JSON: Unexpected token Identifier found.'],
	['text after it', {expo: '{}\n{}'}, 'expo:2: it is not valid JSON: Unexpected token LBrace found.'],
	['nothing', {expo: ''}, 'expo:1: it is not valid JSON: Unexpected end of input found.'],
	['a depth of thousands', {expo: '['.repeat(50_000)}, 'expo: it is nested too deeply'],
	[
		'entities that expand',
		{ios: '<!DOCTYPE a [<!ENTITY a "&b;&b;"><!ENTITY b "x">]><plist>&a;</plist>'},
		'undefined entity',
	],
	['dictionaries, thousands deep', {ios: `<plist>${'<dict>'.repeat(9000)}`}, 'nested too deeply'],
	['more bytes than any', {ios: ' '.repeat(4_194_305)}, 'more than 4194304 bytes'],
	['no property list', {ios: '<html></html>'}, 'ios:1: it is not a property list'],
] as const) {
	test(`a file for ${Object.keys(files)[0]} with ${title} is refused`, async (t) => {
		const {check} = await appProject(t);
		const {faults} = ends(t, await check(files), 1);
		t.is(faults.length, 1);
		t.true(faults[0]?.includes(message), faults[0]);
	});
}
