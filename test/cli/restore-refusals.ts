import {createHash, randomBytes, randomUUID} from 'node:crypto';
import {gunzipSync, gzipSync} from 'node:zlib';
import test from 'ava';
import {createArchiveWriter} from '../../src/operations/backup/write-archive.ts';
import type {TestService} from '../helpers/service.ts';
import {backedUp, setUpRestore} from './_backup.ts';
import {contents} from './_contents.ts';
import {ends} from './_run-cli.ts';

let service: TestService;
let backup: Buffer;

test.serial.before(async () => {
	({service, backup} = await backedUp());
});
test.after.always(() => service?.stop());

/** A backup that is whole by its checksums, with these rows in a table in place of its own. */
const forged = (whole: Buffer, table: string, rows: (own: string[]) => Iterable<string>): Buffer => {
	const archive = createArchiveWriter();
	let own: string[] = [];
	let text = '';
	for (const line of gunzipSync(whole).toString().trimEnd().split('\n')) {
		const [word, first, second] = line.startsWith('[') ? JSON.parse(line) : [''];
		if (word === 'oplink backup') {
			text += archive.head(second);
		} else if (word === 'table') {
			own = [];
			text += archive.table(first, second);
		} else if (word === 'end of table') {
			text += archive.rows(first === table ? [...rows(own)] : own) + archive.endOfTable();
		} else if (word === '') {
			own.push(line);
		}
	}

	return gzipSync(text + archive.end().text);
};

const lineOf = (text: string, word: string): string => text.split('\n').find((line) => line.includes(word)) ?? '';

for (const [what, spoil, message] of [
	['cut off', (whole: Buffer) => whole.subarray(0, whole.length - 40), 'is incomplete'],
	[
		'without its last line',
		(whole: Buffer) =>
			gzipSync(
				gunzipSync(whole)
					.toString()
					.replace(/\["end of backup".*\n/, ''),
			),
		'is incomplete',
	],
	[
		'with a title changed',
		(whole: Buffer) => gzipSync(gunzipSync(whole).toString().replace('/item/7', '/item/8')),
		'the table',
	],
	[
		'with a row less',
		(whole: Buffer) => {
			const text = gunzipSync(whole).toString();
			return gzipSync(text.replace(`${lineOf(text, '"/item/7"')}\n`, ''));
		},
		'the table',
	],
	[
		'with a value that is none',
		(whole: Buffer) =>
			gzipSync(
				gunzipSync(whole)
					.toString()
					.replace(/"link_id":"/g, '"link_id":"x'),
			),
		'damaged',
	],
	[
		'with something behind its end',
		(whole: Buffer) => gzipSync(Buffer.concat([gunzipSync(whole), Buffer.from('["table","links",[]]\n')])),
		'damaged',
	],
	[
		// In the checksum of the compressed data. Elsewhere a turned byte may read as another column, which is refused as such.
		'with bytes turned',
		(whole: Buffer) => Buffer.from(whole.map((byte, index) => (index === whole.length - 6 ? byte ^ 255 : byte))),
		'damaged|incomplete',
	],
	['that is another file', () => Buffer.from('{"links": []}'), 'not an Oplink backup'],
	[
		'of a newer program',
		(whole: Buffer) =>
			gzipSync(gunzipSync(whole).toString().replace('"migrations":[', '"migrations":["20260101000000_unknown",')),
		'newer version',
	],
	[
		'with clicks of more months than there can be',
		(whole: Buffer) =>
			forged(whole, 'clicks', ([click = '{}']) =>
				Array.from({length: 9000}, (_, index) => {
					const at = new Date(Date.UTC(1000, index)).toISOString();
					return JSON.stringify({...JSON.parse(click), id: randomUUID(), occurred_at: at});
				}),
			),
		'the time of clicks',
	],
	[
		'with a click without a time',
		(whole: Buffer) => forged(whole, 'clicks', () => ['{"occurred_at": "infinity"}']),
		'a row is invalid',
	],
	[
		'with a line of 50 MB',
		(whole: Buffer) => forged(whole, 'links', () => [`{"id": "${randomBytes(25_000_000).toString('hex')}"}`]),
		'line \\d+ is invalid',
	],
	[
		'that is far larger than it looks',
		(whole: Buffer) =>
			forged(whole, 'settings', () =>
				Array.from({length: 150}, (_, index) => `{"name": "${index}", "value": "${'x'.repeat(1e6)}"}`),
			),
		'compression ratio is higher',
	],
	[
		'with a table twice',
		(whole: Buffer) =>
			gzipSync(
				gunzipSync(whole)
					.toString()
					.replace(
						/(\["table","clicks".*\n)/,
						'$1["end of table","clicks",{"rows":0,"sha256":"'.concat(createHash('sha256').digest('hex'), '"}]\n$1'),
					),
			),
		'the table clicks',
	],
	[
		'with a head that is none',
		(whole: Buffer) => gzipSync(gunzipSync(whole).toString().replace(/^.*\n/, '["oplink backup",1,null]\n')),
		'line 1 is invalid',
	],
] as const) {
	test(`a backup ${what} is refused, and nothing is changed`, async (t) => {
		const {db, restore} = await setUpRestore(t, spoil(backup));
		const before = await contents(db);
		ends(t, await restore(), 1, {stdout: '', stderr: [new RegExp(`^Error: .*(${message})`), /Nothing was changed/]});
		t.is(await contents(db), before);
	});
}
