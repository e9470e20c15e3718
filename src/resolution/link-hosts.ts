import {hostnameOf} from '../http/request-host.ts';
import type {Services} from '../services.ts';

/** Host headers of late, and whether they name the shared link domain. */
export const createLinkHosts = ({hostRoles}: Pick<Services, 'hostRoles'>) => {
	const known = new Map<string, boolean>();
	return (host: string | undefined): boolean => {
		const found = known.get(host ?? '');
		if (found !== undefined) {
			return found;
		}

		const role = hostRoles.roleOf(hostnameOf(host));
		const isLinkHost = role === 'link' || role === 'both';
		if (known.size >= 1000) {
			known.clear();
		}

		known.set(host ?? '', isLinkHost);
		return isLinkHost;
	};
};
