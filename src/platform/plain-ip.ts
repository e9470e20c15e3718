import ipaddr from 'ipaddr.js';

/** An IPv4 address in an IPv6 one as itself. */
export const plainIp = (ip: string): string =>
	ip.includes(':') && (ip.includes('.') || /^::ffff:/i.test(ip)) ? ipaddr.process(ip).toString() : ip;
