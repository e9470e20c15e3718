import {execFile} from 'node:child_process';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import test from 'ava';
import {document} from '../../setup/documented.ts';
import {clientTypes} from './_client-types.ts';

const run = promisify(execFile);
const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');

let folder: string;
let types: string;
test.serial.before(async () => {
	folder = await mkdtemp(path.join(tmpdir(), 'client-types-'));
	types = await clientTypes(document, folder);
});
test.after.always(() => folder && rm(folder, {recursive: true}));

/** The generator's own output for a document without webhooks and definitions. */
const EMPTY = /^export type (?:webhooks|\$defs) = Record<string, never>;$/;

test('no object that may hold something is an empty one to a generated client', (t) => {
	const lines = types.split('\n');
	t.true(lines.length > 1000);
	const found = lines.filter((line) => line.includes('Record<string, never>') && !EMPTY.test(line));
	t.deepEqual(found, []);
});

const consumer = `
import type {paths} from './types.ts';

type Body<P extends keyof paths> = paths[P] extends {post: {requestBody?: {content: {'application/json': infer B}}}} ? B : never;

export const event: Body<'/sdk/events'> = {deviceId: 'device-0001', eventName: 'purchase', properties: {amount: 1999, items: ['a']}};
export const identity: Body<'/sdk/identity'> = {deviceId: 'device-0001', externalUserId: 'u', traits: {plan: 'gold', age: 42}};
export const link: Body<'/links'> = {path: '/sale', params: {coupon: 'A1'}, og: {title: null}};
export const invitation: Body<'/portal/team/invitations'> = {email: 'a@example.com', role: 'VIEWER'};
// @ts-expect-error values of params are texts
export const wrongLink: Body<'/links'> = {path: '/sale', params: {coupon: 1}};
// @ts-expect-error there is no such role
export const wrongInvitation: Body<'/portal/team/invitations'> = {email: 'a@example.com', role: 'BOSS'};
// @ts-expect-error an event has a name
export const wrongEvent: Body<'/sdk/events'> = {deviceId: 'device-0001'};
`;

test('a generated client takes the bodies that the API takes, and no others', async (t) => {
	await writeFile(path.join(folder, 'types.ts'), types);
	await writeFile(path.join(folder, 'consumer.ts'), consumer);
	await writeFile(
		path.join(folder, 'tsconfig.json'),
		JSON.stringify({
			compilerOptions: {
				strict: true,
				noEmit: true,
				module: 'nodenext',
				target: 'es2022',
				types: [],
				allowImportingTsExtensions: true,
			},
			files: ['consumer.ts'],
		}),
	);
	const {stdout} = await run(process.execPath, [tsc, '-p', folder]).catch((error: {stdout: string}) => error);
	t.is(stdout, '');
});
