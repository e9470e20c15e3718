import {execFileSync} from 'node:child_process';
import {findProgram} from '../helpers/find-program.ts';

/** What the run needs beside Node and Redis: a program, where Debian puts it, and the package that has it. */
const wanted = {
	postgres: ['/usr/lib/postgresql/15/bin/postgres', 'postgresql-15'],
	patroni: ['/usr/bin/patroni', 'patroni'],
	etcd: ['/usr/bin/etcd', 'etcd-server'],
	haproxy: ['/usr/sbin/haproxy', 'haproxy'],
	pgbouncer: ['/usr/sbin/pgbouncer', 'pgbouncer'],
} as const;

export type Programs = Record<keyof typeof wanted, string>;

/** The programs, or the packages that are missing. */
export const findPrograms = (): {programs: Programs} | {missing: string[]} => {
	const found = Object.entries(wanted).map(([name, [usual, from]]) => ({name, from, file: findProgram(usual)}));
	const missing = found.filter(({file}) => file === null).map(({from}) => from);
	return missing.length > 0
		? {missing}
		: {programs: Object.fromEntries(found.map(({name, file}) => [name, file])) as Programs};
};

/** The first line that a program prints of its version. */
export const versionOf = (file: string): string =>
	execFileSync(file, ['--version'], {encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore']}).split('\n')[0] ?? '';
