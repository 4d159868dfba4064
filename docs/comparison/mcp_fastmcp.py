from fastmcp.experimental.transforms.code_mode import CodeMode
from fastmcp.server import create_proxy

server = create_proxy("server.py")
server.add_transform(CodeMode())
server.run()
