# The app for one container: docker build -t mvgviz . && docker run -p 127.0.0.1:8501:8501 mvgviz
# In a container the app has to listen to all addresses (--host 0.0.0.0) and warns of it: publish its port to this
# machine alone, as above, or put the proxy of compose.yaml in front. docs/deployment.md
FROM python:3.13-slim AS build
WORKDIR /build
RUN python -m venv /opt/mvgviz
COPY locks/app.txt locks/
RUN /opt/mvgviz/bin/python -m pip install --no-cache-dir --require-hashes -r locks/app.txt
COPY pyproject.toml README.md LICENSE app.py ./
COPY .streamlit .streamlit
COPY mvgviz mvgviz
COPY pages pages
COPY sample_data sample_data
RUN /opt/mvgviz/bin/python -m pip install --no-cache-dir --no-index --no-build-isolation ".[app]"
RUN install -d -m 700 -o 10001 -g 10001 /home/mvgviz /ledger

FROM python:3.13-slim
COPY --from=build /opt/mvgviz /opt/mvgviz
COPY --from=build --chown=10001:10001 /home/mvgviz /home/mvgviz
COPY --from=build --chown=10001:10001 /ledger /ledger
ENV HOME=/home/mvgviz MVGVIZ_LEDGER=/ledger/ledger.sqlite PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /home/mvgviz
VOLUME /ledger
EXPOSE 8501
HEALTHCHECK --start-period=60s CMD ["/opt/mvgviz/bin/python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8501/_stcore/health', timeout=5)"]
ENTRYPOINT ["/opt/mvgviz/bin/mvgviz", "--no-browser", "--port", "8501"]
CMD ["--host", "0.0.0.0"]
