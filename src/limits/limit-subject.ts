import ipaddr from 'ipaddr.js';

/**
 * What a limit per address is counted under. One IPv6 caller owns at least a /64 and may use any address in it, so
 * the whole /64 counts as one (`2001:db8:1:2::/64`); an IPv4 address, also one mapped into IPv6, counts as itself.
 */
export const limitSubjectOf = (ip: string): string => {
	if (!ip.includes(':')) {
		return ip;
	}

	const address = ipaddr.process(ip);
	if (!(address instanceof ipaddr.IPv6)) {
		return address.toString();
	}

	return `${new ipaddr.IPv6([...address.parts.slice(0, 4), 0, 0, 0, 0]).toString()}/64`;
};
