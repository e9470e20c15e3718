const MAX_ALIASES = 10;

/** A host name. Its last label is not a number, which excludes IPv4 addresses. */
const HOST_NAME = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+(?!\d+$|0x[\da-f]*$)[a-z0-9_-]{1,63}$/;
const PORT = /:\d+$/;

/** A host as requests name it: lower case, without port and trailing dot. */
const nameOf = (host: string): string => host.toLowerCase().replace(PORT, '').replace(/\.$/, '');

/** Host names of aliases as requests name them. */
export const aliasesOf = (written: readonly string[]): string[] => written.map(nameOf);

/** The fault of LINK_DOMAIN_ALIASES; null if there is none. */
export const aliasFault = ({
	linkDomainAliases: written,
	linkDomain,
	publicUrl,
}: Readonly<{linkDomainAliases: readonly string[]; linkDomain: string | null; publicUrl: string | null}>):
	| string
	| null => {
	if (written.length > MAX_ALIASES) {
		return `must be at most ${MAX_ALIASES} hosts`;
	}

	const aliases = aliasesOf(written);
	const taken = [linkDomain, publicUrl && new URL(publicUrl).host].flatMap((host) => (host ? [nameOf(host)] : []));
	const mayHavePort = PORT.test(linkDomain ?? '');
	const wrong = written.find((host, index) => {
		const alias = aliases[index] ?? '';
		const isUsable = HOST_NAME.test(alias) && !alias.endsWith('.localhost') && (mayHavePort || !PORT.test(host));
		return !isUsable || taken.includes(alias) || aliases.indexOf(alias) !== index;
	});
	return wrong === undefined
		? null
		: `must be host names, each once and none of them LINK_DOMAIN or the API host; wrong: ${wrong}`;
};
