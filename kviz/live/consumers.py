"""The websocket a viewer follows a run on."""
