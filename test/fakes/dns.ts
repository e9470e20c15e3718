import {createSocket} from 'node:dgram';
import {once} from 'node:events';
import {isIPv6} from 'node:net';
import {type Answer, decode, encode, type Packet} from 'dns-packet';

const NXDOMAIN = 3;
const SERVFAIL = 2;
const MAX_STRING = 255;

export type FakeDns = {
	/** As DNS_SERVERS takes it. */
	address: string;
	/** Replaces the TXT records of a name; none: the name exists without any. */
	setTxt(name: string, ...values: string[]): void;
	/** Replaces the addresses of a name, of both families. */
	setAddresses(name: string, ...addresses: string[]): void;
	/** Every question about the name is answered with SERVFAIL, or is answered again. */
	fail(name: string, isFailing?: boolean): void;
	/** Every question about the name is answered after that time. */
	delay(name: string, milliseconds: number): void;
	/** The names that were asked about, in order. */
	asked: string[];
	stop(): Promise<void>;
};

/** One TXT record as its strings, none longer than 255 bytes (RFC 1035, 3.3.14). */
const stringsOf = (value: string): string[] => {
	const strings: string[] = [];
	for (let at = 0; at < value.length; at += MAX_STRING) {
		strings.push(value.slice(at, at + MAX_STRING));
	}

	return strings;
};

/** The TTL of an answer: long, so that a caching resolver is found out. */
const TTL = 3600;

const soa = (name: string): Answer => ({
	type: 'SOA',
	name,
	ttl: TTL,
	data: {mname: `ns.${name}`, rname: `admin.${name}`, serial: 1, refresh: TTL, retry: TTL, expire: TTL, minimum: TTL},
});

/** A name server on loopback. An unset name is NXDOMAIN. */
export const startDns = async (): Promise<FakeDns> => {
	const records = new Map<string, string[]>();
	const hosts = new Map<string, string[]>();
	const failing = new Set<string>();
	const delays = new Map<string, number>();
	const asked: string[] = [];
	const socket = createSocket('udp4');

	const answerTo = ({id, questions = []}: Packet): Packet => {
		const [question] = questions;
		const name = question?.name.toLowerCase() ?? '';
		asked.push(name);
		const reply = {type: 'response' as const, ...(id === undefined ? {} : {id}), questions};
		if (failing.has(name)) {
			return {...reply, flags: SERVFAIL};
		}

		const isKnown = records.has(name) || hosts.has(name);
		const answers: Answer[] =
			question?.type === 'A' || question?.type === 'AAAA'
				? (hosts.get(name) ?? [])
						.filter((address) => isIPv6(address) === (question.type === 'AAAA'))
						.map((data) => ({type: question.type as 'A', name, ttl: TTL, data}))
				: (records.get(name) ?? []).map((value) => ({type: 'TXT', name, ttl: TTL, data: stringsOf(value)}));
		return {...reply, flags: isKnown ? 0 : NXDOMAIN, answers, authorities: answers.length === 0 ? [soa(name)] : []};
	};

	socket.on('message', (message, {port, address}) => {
		const question = decode(message);
		const answer = () => socket.send(encode(answerTo(question)), port, address);
		const delay = delays.get(question.questions?.[0]?.name.toLowerCase() ?? '');
		if (delay === undefined) {
			answer();
		} else {
			setTimeout(answer, delay);
		}
	});
	socket.bind(0, '127.0.0.1');
	await once(socket, 'listening');

	return {
		address: `127.0.0.1:${socket.address().port}`,
		setTxt: (name, ...values) => {
			records.set(name, values);
		},
		setAddresses: (name, ...addresses) => {
			hosts.set(name, addresses);
		},
		fail: (name, isFailing = true) => {
			failing[isFailing ? 'add' : 'delete'](name);
		},
		delay: (name, milliseconds) => {
			delays.set(name, milliseconds);
		},
		asked,
		stop: async () => {
			socket.close();
			await once(socket, 'close');
		},
	};
};
