import {lookup} from 'node:dns/promises';
import {isIP} from 'node:net';
import {addAbortSignal} from 'node:stream';
import {setTimeout as delay} from 'node:timers/promises';
import {connect, type PeerCertificate} from 'node:tls';
import type {LinkHost} from '../../operations/doctor/hosts.ts';
import {outcomeOf, probe} from '../../operations/doctor/probe.ts';
import {type Finding, findingsOf} from '../../operations/finding.ts';
import {type Clock, DAY_MS} from '../../platform/clock.ts';
import {fieldsOf} from '../../platform/http/untrusted-json.ts';
import {counted} from '../../platform/text.ts';
import {isLoopback} from '../server/left-in-data-dir.ts';
import {associationFiles, checkFile} from './host-files.ts';

const TIMEOUT_MS = 10_000;
/** Automatic renewal happens well before; if less than both is left, it has failed. */
const FEW_DAYS = 14;
const SMALL_PART = 0.25;

/** Result of a handshake. `fault`: the code of the certificate's error, such as CERT_HAS_EXPIRED. */
type Handshake = {
	certificate: Pick<PeerCertificate, 'valid_from' | 'valid_to' | 'subjectaltname'>;
	fault: string | null;
};

const namesOf = ({subjectaltname}: Handshake['certificate']): string =>
	(subjectaltname ?? '').replaceAll('DNS:', '').replaceAll('IP Address:', '') || 'no name';

const dayOf = (text: string): string => new Date(text).toISOString().slice(0, 10);

/** The message and the next step for a certificate's fault. */
const faultWords = (
	fault: string,
	certificate: Handshake['certificate'],
	hostname: string,
): [message: string, next: string] => {
	switch (fault) {
		case 'CERT_HAS_EXPIRED':
			return [`its certificate expired on ${dayOf(certificate.valid_to)}`, 'Renew it, and automate the renewal'];
		case 'CERT_NOT_YET_VALID':
			return [
				`its certificate is not valid before ${dayOf(certificate.valid_from)}`,
				'Check the clock of this machine',
			];
		case 'ERR_TLS_CERT_ALTNAME_INVALID':
			return [`its certificate is for ${namesOf(certificate)}`, `Get one for ${hostname}`];
		case 'DEPTH_ZERO_SELF_SIGNED_CERT':
		case 'SELF_SIGNED_CERT_IN_CHAIN':
			return ['its certificate is self-signed', 'Get one that phones trust, such as from Let’s Encrypt'];
		case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
		case 'UNABLE_TO_GET_ISSUER_CERT':
		case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
			return ['no known authority issued its certificate', 'Serve the intermediate certificates with it'];
		default:
			return [`its certificate is not valid (${fault})`, 'Get another one'];
	}
};

/** The finding for a host's certificate. */
export const judgeCertificate = (
	area: string,
	hostname: string,
	{certificate, fault}: Handshake,
	now: Date,
): Finding => {
	const {ok, warn, fail} = findingsOf(area);
	if (fault !== null) {
		return fail('host.certificate', ...faultWords(fault, certificate, hostname));
	}

	const {valid_from: from, valid_to: to} = certificate;
	const left = Date.parse(to) - now.getTime();
	const days = Math.floor(left / DAY_MS);
	const message = `its certificate is valid until ${dayOf(to)}, for ${counted(days, 'day')}`;
	const isLate = days < FEW_DAYS && left < (Date.parse(to) - Date.parse(from)) * SMALL_PART;
	return isLate
		? warn('host.certificate', message, 'Find out why it has not been renewed')
		: ok('host.certificate', message);
};

const handshake = (url: URL, signal: AbortSignal): Promise<Handshake> =>
	new Promise((resolve, reject) => {
		const host = url.hostname.replace(/^\[|\]$/g, '');
		const socket = connect({
			host,
			port: Number(url.port) || 443,
			...(isIP(host) ? {} : {servername: host}),
			// Inspect a bad certificate instead of rejecting it.
			rejectUnauthorized: false,
		});
		addAbortSignal(signal, socket);
		socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('no answer in time')));
		socket.once('secureConnect', () => {
			const fault = socket.authorized ? null : String(socket.authorizationError);
			resolve({certificate: socket.getPeerCertificate(), fault});
			socket.destroy();
		});
		socket.once('error', reject);
	});

/** Whether phones accept the host's certificate, and how long it stays valid. */
const checkCertificate = async (
	area: string,
	url: URL,
	{signal, now}: {signal: AbortSignal; now: Date},
): Promise<Finding> => {
	try {
		return judgeCertificate(area, url.hostname, await handshake(url, signal), now);
	} catch (error) {
		return findingsOf(area).fail(
			'host.certificate',
			`TLS connection failed: ${(error as Error).message}`,
			'Serve TLS there, and open port 443',
		);
	}
};

const RESOLVER_MS = 5000;

const checkAddress = async (area: string, hostname: string): Promise<Finding> => {
	const {ok, fail} = findingsOf(area);
	const found = await Promise.race([
		lookup(hostname.replace(/^\[|\]$/g, ''), {all: true}),
		delay(RESOLVER_MS, 'ETIMEOUT', {ref: false}),
	]).catch(({code, message}: NodeJS.ErrnoException) => code ?? message);
	return typeof found === 'string'
		? fail(
				'host.address',
				`it does not resolve (${found})`,
				`Set an A, AAAA or CNAME record for ${hostname} that points to the server`,
			)
		: ok('host.address', `it resolves to ${[...new Set(found.map(({address}) => address))].join(', ')}`);
};

const plainHttp = (area: string, url: string): Finding => {
	const {warn} = findingsOf(area);
	return isLoopback(url)
		? warn(
				'host.https',
				'links on it work on this machine only',
				'Set LINK_DOMAIN to a host name that phones can reach',
			)
		: warn(
				'host.https',
				'it is served over http; apps open links only over https',
				'Serve it over https; unset LINK_SCHEME',
			);
};

/** The area of a host's findings. */
export const areaOf = ({url, orgKey}: LinkHost): string => {
	const {host} = new URL(url);
	return orgKey === null ? `Link domain ${host}` : `Domain ${host} of ${orgKey}`;
};

/**
 * Examines a link host as phones see it: its address, its certificate, and both association files. After a failure the
 * checks that depend on it are skipped.
 */
export const examineHost = async (
	host: LinkHost,
	{signal, clock}: {signal: AbortSignal; clock: Clock},
): Promise<Finding[]> => {
	const url = new URL(host.url);
	const area = areaOf(host);
	const address = await checkAddress(area, url.hostname);
	if (address.status === 'fail') {
		return [address];
	}

	const security =
		url.protocol === 'https:'
			? await checkCertificate(area, url, {signal, now: clock.now()})
			: plainHttp(area, host.url);
	if (security.status === 'fail') {
		return [address, security];
	}

	const files = await Promise.all(associationFiles.map((file) => checkFile(area, host, file, signal)));
	return [address, security, ...files];
};

/** Whether a server answers there as Oplink does; one that is not ready is a finding of its own. */
const checkAnswer = async (area: string, publicUrl: string): Promise<Finding> => {
	const {ok, fail} = findingsOf(area);
	const answer = await probe(`${publicUrl}/health/ready`);
	const isOplink = 'body' in answer && typeof fieldsOf(answer.body)['checks'] === 'object';
	return isOplink
		? ok('public.answer', 'the API answers there')
		: fail(
				'public.answer',
				`the API does not answer there: it ${outcomeOf(answer)}`,
				'Point the proxy of that address to this server, or correct PUBLIC_URL',
			);
};

/**
 * Examines PUBLIC_URL as backends and apps use it: its name, its certificate, its answer. After a failure the checks
 * that depend on it are skipped. An address of the server's own machine is asked only from there.
 * @param from the address at which this program reaches the server.
 */
export const examinePublicUrl = async (
	publicUrl: string,
	{from, signal, clock}: {from: string; signal: AbortSignal; clock: Clock},
): Promise<Finding[]> => {
	const area = `PUBLIC_URL ${publicUrl}`;
	const {warn} = findingsOf(area);
	const isOwn = isLoopback(publicUrl);
	if (isOwn && !isLoopback(from)) {
		return [warn('public.address', 'only the machine of the server reaches it', 'Set it to the address of the API')];
	}

	const url = new URL(publicUrl);
	const address = await checkAddress(area, url.hostname);
	if (address.status === 'fail') {
		return [address];
	}

	const plain = isOwn
		? []
		: [warn('public.https', 'keys and tokens cross the network unencrypted', 'Serve it over https')];
	const security = url.protocol === 'https:' ? [await checkCertificate(area, url, {signal, now: clock.now()})] : plain;
	const isBroken = security.some(({status}) => status === 'fail');
	return [address, ...security, ...(isBroken ? [] : [await checkAnswer(area, publicUrl)])];
};
