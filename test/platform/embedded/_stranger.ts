import {readFile} from 'node:fs/promises';
import process from 'node:process';
import {Client} from 'pg';

/** Results of a stranger's attempts: an error's code or message, or `done`. */
export type StrangerMessage = Record<'withoutPassword' | 'wrongPassword' | 'passwordFile', string>;

const outcome = (attempt: Promise<unknown>): Promise<string> =>
	attempt.then(
		() => 'done',
		(error: {code?: string; message: string}) => error.code ?? error.message,
	);

const logIn = async (connectionString: string): Promise<void> => {
	const client = new Client({connectionString});
	await client.connect();
	await client.end();
};

/** Another process of PostgreSQL's user that knows the location of the database and of its password. */
const [address = '', passwordFile = '', uid, gid] = process.argv.slice(2);
if (uid !== undefined) {
	process.setgroups?.([]);
	process.setgid?.(Number(gid));
	process.setuid?.(Number(uid));
}

const withPassword = (password: string | null): string => {
	const url = new URL(address);
	url.searchParams.delete('password');
	if (password !== null) {
		url.searchParams.set('password', password);
	}

	return url.href;
};

const message: StrangerMessage = {
	withoutPassword: await outcome(logIn(withPassword(null))),
	wrongPassword: await outcome(logIn(withPassword('password'))),
	passwordFile: await outcome(readFile(passwordFile)),
};
process.send?.(message, () => process.exit());
