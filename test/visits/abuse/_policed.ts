import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {type Answer, anonymous} from '../../helpers/callers.ts';
import {dataDirectory} from '../../helpers/process.ts';
import type {TestService} from '../../helpers/service.ts';
import {ownService} from '../_own.ts';
import {pathOf, userAgents} from '../matches/_phones.ts';

export const BAD = 'https://bad.example/login';
export const ODD = 'https://www.odd.example/offer';

export const policyOf = async (t: Pick<ExecutionContext, 'teardown'>) => {
	const folder = await dataDirectory(t);
	const write = (name: string, text: string) => writeFile(path.join(folder, name), text);
	await write('bad.txt', '||bad.example^\n');
	await write('odd.txt', 'odd.example\n');
	const file = path.join(folder, 'policy.json');
	await writeFile(
		file,
		JSON.stringify([
			{name: 'Odd', file: 'odd.txt', format: 'domains', action: 'warn'},
			{name: 'Bad', file: 'bad.txt', format: 'domains', action: 'block'},
		]),
	);
	return {file, write};
};

/** A service with a list that blocks, and one that warns; both are read anew by `change`. */
export const policedService = async (t: ExecutionContext, env: Record<string, string> = {}) => {
	const {file, write} = await policyOf(t);
	const service = await ownService(t, {LINK_DOMAIN: 'localhost', LINK_POLICY_FILE: file, ...env});
	const change = async (name: string, text: string, isStopping?: () => boolean): Promise<void> => {
		await write(name, text);
		await service.services.abuseFigures.refresh(isStopping);
	};
	return {service, change};
};

export const visit = (service: TestService, url: string, userAgent: string = userAgents.iPhone): Promise<Answer> =>
	anonymous(service).get(pathOf(url), {'User-Agent': userAgent, Accept: 'text/html', 'Accept-Language': 'en'});
