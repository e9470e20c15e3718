import {lookup} from 'node:dns/promises';
import {setTimeout as delay} from 'node:timers/promises';
import type {Clock} from '../../clock.ts';
import {type Finding, findingsOf} from '../../doctor/finding.ts';
import type {LinkHost} from '../../doctor/hosts.ts';
import {isLoopback} from '../server/chosen-server.ts';
import {checkCertificate} from './host-certificate.ts';
import {associationFiles, checkFile} from './host-files.ts';

const RESOLVER_MS = 5000;

/** Whether a link host has an address, by this machine's resolver. */
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

/** The consequence of http for links. */
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
