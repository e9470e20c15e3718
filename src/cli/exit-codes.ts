/** Exit codes of every command (contract/operations 15); 78 is EX_CONFIG of sysexits.h, 130 the shells' code for SIGINT. */
export const exitCodes = {
	ok: 0,
	failed: 1,
	usage: 2,
	authentication: 3,
	notFound: 4,
	conflict: 5,
	plan: 6,
	unreachable: 7,
	configuration: 78,
	interrupted: 130,
} as const;
