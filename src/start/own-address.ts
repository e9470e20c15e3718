import {once} from 'node:events';
import {readFileSync, rmSync, writeFileSync} from 'node:fs';
import {connect} from 'node:net';
import path from 'node:path';

/** The file in DATA_DIR with the addresses of its servers, for the CLI on this machine. */
export const ADDRESS_FILE = 'address';

/** The wildcard addresses of a machine, each with its loopback address. */
const LOOPBACKS = [
	['//0.0.0.0:', '//127.0.0.1:'],
	['//[::]:', '//[::1]:'],
] as const;

/** The addresses of servers with this DATA_DIR, the newest first; none if the file is gone, or DATA_DIR is. */
const readAddresses = (file: string): string[] => {
	try {
		return readFileSync(file, 'utf8')
			.split('\n')
			.filter((line) => URL.canParse(line));
	} catch {
		return [];
	}
};

const writeAddresses = (file: string, addresses: readonly string[]): void => {
	if (addresses.length === 0) {
		rmSync(file, {force: true});
	} else {
		writeFileSync(file, addresses.map((one) => `${one}\n`).join(''), {mode: 0o644});
	}
};

/** How long a server of this machine may take to accept a connection. */
const CONNECT_MS = 1000;

/** Whether a server listens there; a killed one has left its address. */
const isServed = async (address: string): Promise<boolean> => {
	const {hostname, port} = new URL(address);
	const socket = connect({host: hostname.replace(/^\[|\]$/g, ''), port: Number(port)});
	try {
		await once(socket, 'connect', {signal: AbortSignal.timeout(CONNECT_MS)});
		return true;
	} catch {
		return false;
	} finally {
		socket.destroy();
	}
};

/** Puts the listener's URL first in DATA_DIR/address, drops dead servers, and removes it at exit, also by a second signal. */
export const publishAddress = async (dataDir: string, listener: string): Promise<void> => {
	const file = path.join(dataDir, ADDRESS_FILE);
	const own = LOOPBACKS.reduce((url, [all, one]) => url.replace(all, one), listener);
	const without = (addresses: readonly string[]) => addresses.filter((one) => one !== own);
	const others: string[] = [];
	for (const one of without(readAddresses(file))) {
		others.push(...((await isServed(one)) ? [one] : []));
	}

	writeAddresses(file, [own, ...others]);
	process.once('exit', () => writeAddresses(file, without(readAddresses(file))));
};
