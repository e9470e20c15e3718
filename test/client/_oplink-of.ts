import {Oplink, type OplinkFetch, type OplinkOptions} from '../../src/client/oplink.ts';
import type {TestOrganization} from '../helpers/builders.ts';
import type {TestService} from '../helpers/service.ts';

let lastAddress = 0;

/** A client of an organization, on a device with an address of its own; a wait moves the service's clock. */
export const oplinkOf = (
	{url, clock}: Pick<TestService, 'url' | 'clock'>,
	{serverKey, clientKey}: Pick<TestOrganization, 'serverKey' | 'clientKey'>,
	options: Partial<OplinkOptions> = {},
) => {
	lastAddress += 1;
	const address = `10.99.${lastAddress >> 8}.${lastAddress & 255}`;
	const waits: number[] = [];
	const {fetch: send = globalThis.fetch, ...others} = options;
	const fetchFrom: OplinkFetch = (input, init) =>
		send(input, {...init, headers: {...init.headers, 'X-Forwarded-For': address}});
	const oplink = new Oplink({
		baseUrl: url,
		serverKey,
		clientKey,
		fetch: fetchFrom,
		sleep: async (seconds) => {
			waits.push(seconds);
			clock.advance(seconds);
		},
		...others,
	});
	return {oplink, waits};
};

/** Sends every request, and loses the answer of the first. */
export const losingTheFirstAnswer = (): OplinkFetch => {
	let isLost = false;
	return async (url, init) => {
		const answer = await fetch(url, init);
		if (!isLost) {
			isLost = true;
			throw new TypeError('terminated');
		}

		return answer;
	};
};
