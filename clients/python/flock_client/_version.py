# Made by `npm run -s clients`: changes are lost.
VERSION = "1.0.0"
