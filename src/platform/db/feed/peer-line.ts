/** Messages between the processes of an installation that work without PostgreSQL, and may be lost. */
export type PeerLine = {
	/** Sends a text to all other processes, and perhaps to this one. */
	say(text: string): void;
	onText(listener: (text: string) => void): void;
	close(): void;
};
