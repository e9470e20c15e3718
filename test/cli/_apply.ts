import {mkdir, writeFile} from 'node:fs/promises';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {stringify} from 'yaml';
import {organization} from '../helpers/builders.ts';
import {admin} from '../helpers/callers.ts';
import {folderOf} from '../helpers/folder.ts';
import type {CliOptions} from './_run-cli.ts';
import type {serviceCli} from './_service-cli.ts';

export type Doc = {kind: string; name?: string; org?: string; spec?: object};

/** A short way to write a document. */
export const doc = (kind: string, name: string, spec?: object): Doc => ({
	kind,
	name,
	...(spec === undefined ? {} : {spec}),
});

export const yamlOf = (docs: readonly Doc[]): string => docs.map((one) => stringify(one)).join('---\n');

/** An organization, a folder of files for it, and `oplink apply` of documents or of arguments, in that folder. */
export const applier = async (
	t: ExecutionContext,
	{service, cli}: Pick<ReturnType<typeof serviceCli>, 'service' | 'cli'>,
	options: Parameters<typeof organization>[1] = {plan: 'SCALE'},
) => {
	const org = await organization(service, options);
	const folder = await folderOf(t);
	const write = async (name: string, content: string | Buffer | readonly Doc[]): Promise<string> => {
		const file = path.join(folder, name);
		await mkdir(path.dirname(file), {recursive: true});
		await writeFile(file, typeof content === 'string' || Buffer.isBuffer(content) ? content : yamlOf(content));
		return file;
	};
	const run = (argv: readonly string[], {io, ...more}: CliOptions = {}) =>
		cli(['apply', ...argv], {...more, io: {cwd: folder, ...io}});
	const apply = async (docs: readonly Doc[], ...more: string[]) => {
		await write('docs.yaml', docs);
		return run(['docs.yaml', '--org', org.orgKey, ...more]);
	};
	const rows = async (kind: string): Promise<Array<Record<string, unknown>>> =>
		(await org.operator.get(`/${kind}?limit=100`)).body.data;
	const audits = async (): Promise<number> => (await org.operator.get('/audit-log?limit=1')).body.total;
	const token = async (...scopes: string[]): Promise<string> =>
		(await admin(service).post('/admin/tokens', {name: `ci ${org.orgKey} ${scopes}`, scopes, organization: org.id}))
			.body.token;
	return {...org, folder, write, run, apply, rows, audits, token};
};
